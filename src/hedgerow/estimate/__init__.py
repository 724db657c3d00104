"""From noisy to usable: merging, consistency, models, rounding, noise laws, intervals, records."""
