"""Parts of the benchmark of re-scoring; not benchmarks themselves."""
