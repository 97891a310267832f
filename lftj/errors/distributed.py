# SPDX-License-Identifier: Apache-2.0
"""Errors of workspaces over parts (E4xx), and errors of packages below as ours."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from lftj.errors.base import LftjError
from lftj.errors.data import MissingDependencyError
from lftj.errors.language import DeclarationError
from lftj.errors.transactions import OptionError


class DistributedError(LftjError, RuntimeError):
    """A call that this kind of workspace cannot do (E400), or a job that failed, a path or session
    that cannot be used (E401 to E408).
    """

    code = "E400"


@contextmanager
def as_ours() -> Generator[None]:
    """Raise errors of packages below, about arguments or what is not installed, as LftjError."""
    try:
        yield
    except LftjError:
        raise
    except ImportError as reason:
        raise MissingDependencyError(str(reason)) from reason
    except TypeError as reason:
        raise OptionError(str(reason), code="E171") from reason
    except ValueError as reason:
        raise DeclarationError(str(reason)) from reason
