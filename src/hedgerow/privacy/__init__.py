"""Budget, ledger, randomness and mechanisms: the only door from exact to noisy."""
