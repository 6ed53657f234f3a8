"""Measured speed: each module measures one thing, beside the peer or the naive way, in the same run."""
