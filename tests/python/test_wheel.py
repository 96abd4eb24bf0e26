"""`pip install ./python`, in an environment of its own."""

import os
import pathlib
import subprocess
import sys

from phasord import BUILD, TIMEOUT

PYTHON = pathlib.Path(__file__).resolve().parents[2] / "python"
SCRIPT = """
import pathlib, sys
import phasor_tables
from phasor_tables import Client, local

home = pathlib.Path(phasor_tables.__file__).parent
assert home.is_relative_to(sys.prefix), home
rows = Client(sys.argv[1]).sinusoidal(width=512).read(0, 5000)
assert rows.tobytes() == local.sinusoidal(width=512).read(0, 5000).tobytes()
with open("/proc/self/maps") as maps:
    loaded = {line.split()[-1] for line in maps if line.rstrip().endswith((".so.10", ".so.6"))}
for library in ("libgmp.so.10", "libmpfr.so.6"):  # the wheel's own
    assert str(home / library) in loaded, loaded
assert (home / "licenses" / "LGPL-3").exists()
"""


def run(*command, **options):
    ended = subprocess.run(command, capture_output=True, text=True, **options)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_wheel(server, tmp_path):
    home = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--system-site-packages", home)
    compiler = {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_BASEDIR": str(PYTHON.parent),
                "CCACHE_NOHASHDIR": "true"}
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run(home / "bin/python", "-m", "pip", "install", "--disable-pip-version-check", "--no-deps",
        f"--config-settings=build-dir={BUILD}/wheel", PYTHON, env={**environment, **compiler})
    run(home / "bin/python", "-c", SCRIPT, server.address, env=environment, cwd=tmp_path,
        timeout=TIMEOUT)
