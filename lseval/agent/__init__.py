"""The protocol that every evaluated model runs under: the loop, its tools, and what is kept of a run."""
