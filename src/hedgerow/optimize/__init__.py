"""Lattices of generalizations: what a record may become, what that risks and what it is worth.

Pure mathematics on public numbers: hierarchies, a public side table and one record at a time. No
noise, no budget and no private table is known here.
"""
