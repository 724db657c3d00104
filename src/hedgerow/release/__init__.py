"""What may leave: releases, their public regions and noisy measurements, files and checks."""

from hedgerow.release.answers import Answers
from hedgerow.release.basket_release import BasketRelease
from hedgerow.release.files import check_target, read_manifest
from hedgerow.release.measurements import Measurement
from hedgerow.release.partition import GridPartition, Partition, TreePartition
from hedgerow.release.release import Release
from hedgerow.release.rows import RowsRelease
from hedgerow.release.verify import Check, Verdict, verify

__all__ = [
    "Answers",
    "BasketRelease",
    "Check",
    "GridPartition",
    "Measurement",
    "Partition",
    "Release",
    "RowsRelease",
    "TreePartition",
    "Verdict",
    "check_target",
    "read_manifest",
    "verify",
]
