"""Lets an app tell swarmtest which requests it was given, and what became of them."""

from .journal import Journal, Write
from .middleware import ContractMiddleware

__all__ = ["ContractMiddleware", "Journal", "Write"]
