"""Drafts of schemas from data: for the curator's eyes, never private."""
