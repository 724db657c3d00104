"""Estimates for transactions: models of itemsets, answers and synthetic records."""
