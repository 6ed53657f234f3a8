"""The parts of the labeling benchmark, each run in a process of its own."""
