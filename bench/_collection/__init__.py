"""What the benchmark of collection is made of."""
