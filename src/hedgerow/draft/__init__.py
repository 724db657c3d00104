"""Drafts of schemas, and checks of data against a schema: for the eyes of its holder."""
