"""What was measured, as plain values: public regions, itemsets, noisy measurements."""

from hedgerow.measured.measurements import Measurement
from hedgerow.measured.partition import GridPartition, Partition, TreePartition

__all__ = ["GridPartition", "Measurement", "Partition", "TreePartition"]
