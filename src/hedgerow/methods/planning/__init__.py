"""Plans made before anything is read: sizes, depths and shares, from public facts alone."""
