"""What is said about a release, once, as plain data; pages, Markdown and text are made of it.

`document` has the parts. `report`, `dossier`, `against` and `tables` make documents; `kinds` and
`regions` know what is said of one kind of release and not of others, `findings`, `values`,
`promise` and `against` one section each, and `words` how numbers and budgets are written. `html`
and `text` render any document.
"""
