# SPDX-License-Identifier: Apache-2.0
"""The page about a workspace as HTML, of one piece: style, script and data are inside."""

from __future__ import annotations

import base64
import hashlib
import math
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lftj.explain.plans.analysis import duration, size
from lftj.frames.whole_files import whole_write
from lftj.report.gather import EXPLAINING, SAMPLED, gather
from lftj.report.strata import layout, with_shared

if TYPE_CHECKING:
    from lftj.report.subject import Subject

_PARTS = Path(__file__).parent / "page"
_BARS = 120
_LEFT, _TOP, _HEIGHT, _BELOW = 64, 8, 100, 22
"""Pixels beside, above and below the bars, and of the highest."""
_APART = 60
"""Pixels between labels of versions."""
_AT_ONCE = 50
"""Rows of a list that the browser makes elements of at once."""


def page(contents: Mapping[str, Any], token: str | None = None) -> str:
    """The page. `token`: of a server that the page follows; None: it stands alone.

    Whatever comes from data is escaped, and a policy in the page lets no script run but its own.
    """
    style, script = _text("style.css"), _text("page.js")
    connect = " 'self'" if token else " 'none'"
    policy = (
        f"default-src 'none'; connect-src{connect}; style-src '{_digest(style)}'; "
        f"script-src '{_digest(script)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return _template("page.html").render(
        **_shown(contents), style=style, script=script, policy=policy, token=token
    )


def content(contents: Mapping[str, Any]) -> str:
    """The part of the page that follows commits."""
    return _template("content.html").render(**_shown(contents), token="live")


def data_of(contents: Mapping[str, Any]) -> dict[str, Any]:
    """The data that the page's script works with."""
    return {
        "version": contents["version"],
        "commits": contents["commits"],
        "explained": contents["explained"],
    }


def write_report(
    subject: Subject,
    destination: str | os.PathLike[str],
    samples: int = SAMPLED,
    explaining: float = EXPLAINING,
) -> Path:
    """Write the page about the last version to a file; returns its path. Raises FrameError (E232)
    where it cannot be written.
    """
    path = Path(destination)
    text = page(gather(subject, samples, explaining))
    with whole_write(path) as sink:
        sink.write(text.encode())
    return path.resolve()


def _shown(contents: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **contents,
        "graph": layout(with_shared(contents["relations"], contents["shared"])),
        "bars": _bars(contents["commits"]),
        "at_once": _AT_ONCE,
        "data": data_of(contents),
    }


def _bars(commits: list[list[Any]]) -> dict[str, Any]:
    """Bars of the time of commits without compilation, the oldest first; many commits share a
    bar, which shows the slowest of them. With axes: plain times, and versions.
    """
    took = [
        (each[0], (each[5] or 0.0) if each[4] is None else max(0.0, each[4] - (each[6] or 0.0)))
        for each in commits
    ]
    took.reverse()
    each = -(-len(took) // _BARS) or 1
    groups = [took[first : first + each] for first in range(0, len(took), each)]
    most = max((seconds for _, seconds in took), default=0.0) or 1.0
    bars = []
    for place, group in enumerate(groups):
        version, seconds = max(group, key=lambda pair: pair[1])
        height = max(1.0, _HEIGHT * seconds / most)
        title = f"version {version}: {duration(seconds)}"
        bars.append({"x": _LEFT + place * 6, "y": round(_TOP + _HEIGHT - height, 1)})
        bars[-1] |= {"h": round(height, 1), "title": title}
    return {
        "width": max(_LEFT + 6 * len(bars), _LEFT + _APART),
        "height": _TOP + _HEIGHT + _BELOW,
        "left": _LEFT,
        "bars": bars,
        "times": [
            (round(_TOP + _HEIGHT * (1 - seconds / most), 1), duration(seconds) if seconds else "0")
            for seconds in _ticks(most)
        ],
        "versions": _labels([group[0][0] for group in groups]),
        "most": duration(most),
        "each": each,
    }


def _ticks(most: float) -> list[float]:
    """Plain times from 0 up to the longest, two to five of them."""
    unit = 10.0 ** math.floor(math.log10(most))
    step = next(size * unit for size in (0.2, 0.5, 1, 2, 5) if most < 4.99 * size * unit)
    return [round(step * count, 12) for count in range(int(most / step + 1e-9) + 1)]


def _labels(versions: list[int]) -> list[tuple[int, int]]:
    """Places below some bars, the first and where there is room the last, and their versions."""
    places = list(range(0, len(versions), _APART // 6))
    if versions and (len(versions) - 1 - places[-1]) * 6 >= _APART // 2:
        places.append(len(versions) - 1)
    return [(_LEFT + 3 + 6 * place, versions[place]) for place in places]


def _text(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The digest by which a policy of contents allows one script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Any:
    import jinja2  # pyright: ignore[reportMissingImports] -- light to have, not to import

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PARTS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"duration": duration, "bytes": size, "count": "{:,}".format}
    made.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return made


def _template(name: str) -> Any:
    return _environment().get_template(name)
