"""Papers' figures and baselines: beside the core, which imports nothing of it."""
