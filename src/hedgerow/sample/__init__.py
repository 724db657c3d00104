"""The embedded samples: clinic discharges and a village shop in a country that does not exist.

Nobody's data is in them. They are made by small models. In one, being readmitted really depends on
age, earlier visits, the length of the stay, work and living alone; in the other, people come to a
shop for one or two things. So a release has something to show; ordinary seeded randomness is right
for fiction.
"""

from hedgerow.sample.survey import people, schema, shop_schema, transactions, write

__all__ = ["transactions", "people", "schema", "shop_schema", "write"]
