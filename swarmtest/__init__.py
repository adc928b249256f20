"""Finds out whether a Docker Swarm stack can be deployed under load without losing a request."""
