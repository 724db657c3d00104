"""The sections of a page, one module each, and what they draw."""
