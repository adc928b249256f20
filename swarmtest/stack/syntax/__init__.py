"""How a stack file is read, as Docker reads it: YAML, variables, layers, and the ways of writing values."""
