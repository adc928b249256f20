"""The labels by which everything of a run is known, and nothing else is touched."""

STACK_LABEL = "com.docker.stack.namespace"
"""Swarm's own: on services, networks, configs, secrets, volumes and containers of a stack."""
RUN_LABEL = "swarmtest.run"
"""Ours: on each service, with the run's name."""
PROBE_SERVICE = "swarmtest-names"
"""The service of the name probe, beside the stack's own."""
