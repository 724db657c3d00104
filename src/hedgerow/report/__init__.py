"""A page about a release, to be looked at; what it says of a release in words."""
