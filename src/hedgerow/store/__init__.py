"""Folders, files and frames: written whole, read with every doubt. Knows no kinds of release."""
