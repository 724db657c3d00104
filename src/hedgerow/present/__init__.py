"""What is said about a release, once, as plain data; pages, Markdown and text are made of it.

`document` has the parts, and writes them as text; `render` makes pages and Markdown. `report`,
`dossier`, `against` and `tables` make documents, `answers` sentences about queries; `kinds` knows
what is said of one kind of release and not of others, `findings`, `values` and `against` sections
of their own, and `words` how numbers, budgets and promises are written.
"""
