"""The methods that publish a table, one per file, and how a tree is grown.

The function that runs them is `hedgerow.publish(...)`, which lives in `hedgerow.publish.api`. On
`hedgerow` that function goes by the name of this package; modules are imported as ever.
"""
