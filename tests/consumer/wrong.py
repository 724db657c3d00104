"""What a checker must refuse, line by line, if the types of the installed wheel mean anything."""

from __future__ import annotations

import hedgerow as hr
from hedgerow.sklearn import RegionClassifier, Synthesizer

print(hr.no_such_name)  # refused: attr-defined
hr.publish("people.csv", 3)  # refused: arg-type
hr.publish("people.csv", epsilon=None)  # refused: arg-type
hr.publish("people.csv", epsilom=1)  # refused: call-arg
hr.publish("people.csv", None, None, 1, 0, 7)  # refused: call-arg
hr.publish("people.csv", seed="3")  # refused: arg-type
hr.DiffMulti(score=4)  # refused: arg-type
hr.DiffMulti(depth="4")  # refused: arg-type

release = hr.Release.load("release")
hr.Release.load(3)  # refused: arg-type
rows: hr.RowsRelease = release  # refused: assignment
print(release.regions)  # refused: attr-defined
release.table(1)  # refused: arg-type
release.table("age", share="mean")  # refused: arg-type
release.count("age > 30", level="95%")  # refused: arg-type
print(release.count("age > 30").estimates)  # refused: attr-defined
release.synthesize("100")  # refused: arg-type
release.save()  # refused: call-arg
ok: str = hr.verify("release").ok  # refused: assignment

RegionClassifier(epsilon=None)  # refused: arg-type
RegionClassifier(1, None, (0, 100))  # refused: call-arg
RegionClassifier().fit([[1.0]])  # refused: call-arg
Synthesizer().sample("10")  # refused: arg-type
