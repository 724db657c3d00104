"""Files that a stranger may have written, frames, and HTML."""
