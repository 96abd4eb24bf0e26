"""How these tests run the tool: as a stranger does, by its command line."""

import contextlib
import os
import re
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

BIN_DIR = Path(os.environ.get("PHASOR_BIN_DIR", Path(__file__).parents[2] / "build" / "bin"))
# Nothing listens there: the port of the discard service on loopback.
NO_SERVER = "127.0.0.1:9"


class Tool:
    def __init__(self, directory):
        self.directory = directory

    def run(self, *words, env=None, **options):
        environment = {k: v for k, v in os.environ.items() if k != "PHASOR_SERVER"}
        environment.update(env or {})
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("timeout", 120)
        return subprocess.run([BIN_DIR / "phasor", *words], stderr=subprocess.PIPE,
                              cwd=self.directory, env=environment, **options)

    def out(self, *words, **options):
        """stdout of a call that has to succeed without a word."""
        done = self.run(*words, **options)
        assert (done.returncode, done.stderr) == (0, b""), done
        return done.stdout

    def npy(self, *words, **options):
        """The array of a call, by way of a file."""
        assert self.out(*words, "--output=array.npy", **options) == b""
        return np.load(self.directory / "array.npy")

    def refused(self, *words, names=(), status=2, **options):
        """The one line of a call that has to fail, and print no data."""
        done = self.run(*words, **options)
        assert done.returncode == status, done
        assert done.stdout == b"", done
        line = done.stderr.decode()
        assert line.startswith("phasor: ") and line.endswith("\n") and line.count("\n") == 1, done
        for name in names:
            assert name in line, line
        return line


@pytest.fixture
def tool(tmp_path):
    return Tool(tmp_path)


@contextlib.contextmanager
def phasord(*flags):
    """A server of one's own: its process and its address."""
    process = subprocess.Popen([BIN_DIR / "phasord", "--listen=127.0.0.1:0", *flags],
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    address = None
    for line in process.stderr:
        ready = re.search(r"phasord ready on (\S+)", line)
        if ready:
            address = ready.group(1)
            break
    # Its further words are read, or it would stop when the pipe is full.
    threading.Thread(target=process.stderr.read, daemon=True).start()
    try:
        assert address, "phasord ended before it was ready"
        yield process, address
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def server():
    """Address of a server that all tests share."""
    with phasord() as (process, address):
        yield address
        process.terminate()
        assert process.wait(timeout=30) == 0
