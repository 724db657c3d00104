"""Taxonomies: trees of values, the rules and files that they are written in, and built-in lists."""
