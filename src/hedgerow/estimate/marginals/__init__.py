"""One model of a release with marginals: where records lie, and which class they have."""
