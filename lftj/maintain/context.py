"""See `lftj.join.context`."""

from lftj.join.context import Context

__all__ = ["Context"]
