"""Traffic: Locust as a child process, with clients of our own that never send a request twice.

Two sides share this folder. ``process`` is the runner's side and loads neither Locust nor gevent;
``settings`` and ``pacing`` are plain data and arithmetic, used by both. All the rest lives in the
child, is loaded by ``swarmtest/locustfile.py``, and knows nothing of engines, faults or verdicts.
"""
