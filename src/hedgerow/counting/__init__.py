"""Exact counts at any size: what engines answer, under seal."""
