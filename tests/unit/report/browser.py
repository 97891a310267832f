"""A real browser, driven over a pipe by its own protocol: keys, sizes, colours, pictures."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
PATIENCE = 60.0
"""Seconds until what should have happened will not."""
_KEYS = {"Tab": 9, "Enter": 13}
_TEXT = {"Enter": "\r"}
_SHIFT = 8


class Window:
    """One page of a browser, of which the process writes answers to `reader`, one for each line
    ended by a zero byte.
    """

    def __init__(self, reader: int, writer: int):
        self._reader, self._writer = reader, writer
        self._bytes, self._number, self._session = b"", 0, ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        made = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = made["sessionId"]

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of one call of the protocol."""
        self._number += 1
        asked: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._writer, json.dumps(asked).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._bytes:
            piece = os.read(self._reader, 1 << 16)
            assert piece, "the browser has ended"
            self._bytes += piece
        line, _, self._bytes = self._bytes.partition(b"\0")
        return json.loads(line)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script: str) -> Any:
        """Wait until an expression in the page is true."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(script)):
            assert time.monotonic() < end, f"it does not come: {script}"
            time.sleep(0.02)
        return found

    def open(self, address: str, width: int = 1280, theme: str = "light") -> None:
        """Show a page, all of it, in a window so many pixels wide."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": theme}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url="about:blank")
        self.until("location.href === 'about:blank'")
        self.call("Page.navigate", url=address)
        self.until("location.href !== 'about:blank' && document.readyState === 'complete'")
        self.until("document.querySelector('script.later') === null")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key and let go of it."""
        pressed: dict[str, Any] = {
            "key": key,
            "code": key,
            "windowsVirtualKeyCode": _KEYS[key],
            "modifiers": _SHIFT if shift else 0,
        }
        if key in _TEXT:
            pressed["text"] = _TEXT[key]
        self.call("Input.dispatchKeyEvent", type="keyDown", **pressed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def type(self, text: str) -> None:
        """Write a text into what has the focus."""
        self.call("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """Write a picture of the whole page."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def window(folder: Path) -> Iterator[Window]:
    """A browser with a window, which ends with the block; its profile is in the folder."""
    assert BROWSER is not None
    (to_read, write), (read, to_write) = os.pipe(), os.pipe()

    def ends() -> None:  # the protocol's file descriptors are 3 and 4
        os.dup2(to_read, 100)
        os.dup2(to_write, 101)
        os.dup2(100, 3)
        os.dup2(101, 4)

    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"]
    command += ["--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
    process = subprocess.Popen(
        command,
        preexec_fn=ends,
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(to_read)
    os.close(to_write)
    try:
        yield Window(read, write)
    finally:
        os.close(write)  # it ends when nobody can call it any more
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(read)
