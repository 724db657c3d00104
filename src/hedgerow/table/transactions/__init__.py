"""Private transactions as codes: how records of items are read and prepared."""
