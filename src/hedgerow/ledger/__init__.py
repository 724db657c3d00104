"""The budget ledger: what all releases of a data set cost together, in a file."""
