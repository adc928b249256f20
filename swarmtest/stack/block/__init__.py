"""The ``x-swarmtest`` block: what swarmtest is told of a stack, beside what Docker is told."""
