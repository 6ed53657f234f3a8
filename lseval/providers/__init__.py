"""The outside world: language models, search engines, pages. Nothing here knows of Django or the database."""
