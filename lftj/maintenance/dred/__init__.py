"""Delete and re-derive (DRed): recursive strata followed by their rows, without counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
    from lftj.maintenance.dred.rederive import Found, Returning, distinct

__all__ = ["Found", "Returning", "distinct"]

__getattr__ = exporting(
    __name__,
    {
        "rederive": "Found Returning distinct",
    },
)
