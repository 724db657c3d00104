"""Guaranteed intervals of counts, from everything that was measured."""
