"""Parts of a model of noisy tables: their noise, and counting in rows that stand for records."""
