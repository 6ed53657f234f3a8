"""The paper's figures, from any study: each is drawn from a table of its own, which is offered beside it."""
