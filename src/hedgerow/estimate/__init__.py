"""What was measured, and what is made of it: models, consistent counts, intervals, records."""
