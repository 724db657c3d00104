"""Text files: CSV and lines of items, framed record by record."""
