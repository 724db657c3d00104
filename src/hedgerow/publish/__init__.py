"""The methods that publish a table, one per file, and how a tree is grown.

The function that runs them is `hedgerow.publish(...)`, which lives in `hedgerow.publish.api`.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.release import Release


class _CallablePackage(ModuleType):
    """This package as a module that can be called.

    Scripts write `hedgerow.publish(...)`, and this package is `hedgerow.publish`: Python binds a
    package to that name on its parent as soon as any module in it is imported, so a function of
    the same name would be lost. Calling the package therefore calls the function.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Release:
        from hedgerow.publish.api import publish

        return publish(*args, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        from hedgerow.publish.api import publish

        return inspect.signature(publish)


sys.modules[__name__].__class__ = _CallablePackage
