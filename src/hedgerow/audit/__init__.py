"""Audits: attempts to break the guarantee, by replay, by enumeration and by statistics.

Nothing here reads private data: tables are simulated from a public schema. All of it judges
mechanisms and is none, so it computes with floats and draws its tables from an ordinary generator.
"""

from hedgerow.audit.methods import AUDITED, Audited
from hedgerow.audit.whole import Line, Report, audit

__all__ = ["AUDITED", "Audited", "Line", "Report", "audit"]
