"""What a run's folder holds beside its trace, as the judging side reads it: the plan and the client's records."""
