"""The embedded sample: a survey of clinic discharges in a country that does not exist.

Nobody's data is in it. It is made by a small model in which being readmitted really depends on
age, earlier visits, the length of the stay, work and living alone, so that a release has something
to show; ordinary seeded randomness is right for fiction.
"""

from hedgerow.sample.survey import people, schema, write

__all__ = ["people", "schema", "write"]
