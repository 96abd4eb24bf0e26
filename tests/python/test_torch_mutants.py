"""The classic faults of position modules: each, put into phasor_tables.torch, fails test_torch.py."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import phasor_tables

pytest.importorskip("torch")

PACKAGE = pathlib.Path(phasor_tables.__file__).parent
TESTS = pathlib.Path(__file__).with_name("test_torch.py")

# What stands once in the module, and the fault in its place.
FAULTS = {
    "the table is a parameter": (
        "        self._table(\"float32\")  # refuses now what is wrong",
        "        self.table = nn.Parameter(read(self._table(\"float32\"), 0, 64))"),
    "the table is a buffer": (
        "        self._table(\"float32\")  # refuses now what is wrong",
        "        self.register_buffer(\"table\", read(self._table(\"float32\"), 0, 64))"),
    "sinusoidal offset ignored": (
        "[read(table, start, length) for start", "[read(table, 0, length) for start"),
    "one offset for the whole batch": (
        "added = rows[0] if len(rows) == 1 else torch.stack(rows)", "added = rows[0]"),
    "learned offset ignored": (
        "self.weight[start:start + length] for start in starts",
        "self.weight[:length] for start in starts"),
    "rows read as constants": (
        "self.weight[start:start + length] for", "self.weight.detach()[start:start + length] for"),
    "std ignored": ("stddev=self.std, ", ""),
    "seed ignored": (", seed=self.seed,", ","),
    "rows past the end wrap": (
        "            if start < 0 or start + length > self.max_len:",
        "            if False:"),
    "gradient does not reach x": ("return x + added.to(x.device)",
                                  "return x.detach() + added.to(x.device)"),
    "rows in float32 whatever the input's type": (
        "self._table(_ELEMENT_TYPES[x.dtype])", "self._table(\"float32\")"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_seen(fault, tmp_path):
    find, replace = FAULTS[fault]
    mutant = tmp_path / "phasor_tables"
    shutil.copytree(PACKAGE, mutant, symlinks=True)
    source = (PACKAGE / "torch.py").read_text()
    assert source.count(find) == 1, "the module has changed: mend the fault"
    (mutant / "torch.py").unlink()
    (mutant / "torch.py").write_text(source.replace(find, replace))
    ended = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", "-x", str(TESTS)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1, ended.stdout  # a test failed; 2 and more: pytest did
