"""Steps that methods share: the tree, candidate splits, scores, measuring."""
