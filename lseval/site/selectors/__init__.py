"""What the site's pages show, read and counted here: nothing in this package changes a row."""
