"""`verify`: recomputes what a release spent, with arithmetic of its own."""

from hedgerow.verification.verify import Check, Verdict, verify

__all__ = ["Check", "Verdict", "verify"]
