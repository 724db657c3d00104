"""What `hedgerow plan` tries out, on rows that are simulated or public."""
