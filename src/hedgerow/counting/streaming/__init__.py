"""Counting of tables larger than memory, chunk by chunk."""
