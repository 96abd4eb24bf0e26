"""The examples run, and show what they say."""

import os
import pathlib
import subprocess
import sys

import pytest

from conftest import NO_TRANSFORMERS

pytest.importorskip("torch")

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_example(example):
    if example == "llama.py":
        pytest.importorskip("transformers", reason=NO_TRANSFORMERS)
    ended = subprocess.run([sys.executable, "-B", EXAMPLES / example], capture_output=True,
                           text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=400)
    assert ended.returncode == 0, ended.stdout + ended.stderr
