"""The paper's tables, from any study: each is a small function from what was counted to a `Table`."""
