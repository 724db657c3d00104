"""Mutation testing: deliberate faults in the code, each of which some test must notice."""
