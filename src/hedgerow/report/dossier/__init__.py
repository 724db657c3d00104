"""The dossier: a release for data protection officers, and its deployment record."""
