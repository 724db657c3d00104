"""Readers of private input: every format, opened as a `Source` of Arrow batches."""
