"""Schema files: from YAML to a `Schema`, with every complaint, and back."""
