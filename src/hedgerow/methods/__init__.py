"""The methods that publish a table, one per file, and how a tree is grown."""
