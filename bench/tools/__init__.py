"""What the benchmarks share: the machine, a fast server, and clients to compare with."""
