"""The scenarios: one file each, a docstring and one value, ``SCENARIO``; data, no ``if``."""
