"""EqualParts, a method for hedgerow, and a score: what a package needs to add both."""

from hedgerow.extend import Method

METHOD = Method(
    settings="hedgerow_equalparts.method:EqualParts",
    rules="hedgerow_equalparts.rules:RULES",
    audited="hedgerow_equalparts.audited:AUDITED",
    data="table",
    words="cuts one attribute into parts of equal width: the one that tells the class best",
)
