"""Finds the smallest ``stop_grace_period`` that is safe, from few rollouts, and says how sure that is.

A tune is a series of runs, each with a deployment of its own: one that looks at the signal path, some that measure
stops under a generous grace, one that proves the recommended value. The arithmetic (:mod:`~swarmtest.tune.bound`,
:mod:`~swarmtest.tune.recommend`, :mod:`~swarmtest.tune.edge`) is apart from the procedure, and knows of no engine.
"""
