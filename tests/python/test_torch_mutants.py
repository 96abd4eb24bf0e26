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
        "        self._tables = _Tables(Sinusoidal(d, base), client)",
        "        self._tables = _Tables(Sinusoidal(d, base), client)\n"
        "        self.table = nn.Parameter(read(self._tables.of(torch.float32), 0, 64))"),
    "the table is a buffer": (
        "        self._tables = _Tables(Sinusoidal(d, base), client)",
        "        self._tables = _Tables(Sinusoidal(d, base), client)\n"
        "        self.register_buffer(\"table\", read(self._tables.of(torch.float32), 0, 64))"),
    "sinusoidal offset ignored": (
        "[read(table, start, length) for start", "[read(table, 0, length) for start"),
    "one offset for the whole batch": (
        "added = rows[0] if len(rows) == 1 else _stacked(rows, length, x)", "added = rows[0]"),
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
        "self._tables.of(x.dtype)\n", "self._tables.of(torch.float32)\n"),
    "rotary frequencies are a buffer": (
        "        self._tables = _Tables(self.spec, client)",
        "        self._tables = _Tables(self.spec, client)\n"
        "        self.register_buffer(\"inv_freq\", torch.ones(width // 2))"),
    "rotary scaling ignored": (
        "layout=layout, **fields)", "layout=layout, **{**fields, \"scaling\": None})"),
    "rotary base ignored": ("Rotary(width, base, layout", "Rotary(width, None, layout"),
    "rotary positions from 0": ("[positions - first]", "[positions - positions.min(1)[0][:, None]]"),
    "rotary positions of the first sequence": (
        "return gather(table, positions)\n    return", "return gather(table, positions[:1])\n    return"),
    "rotary rows in float32 whatever the input's type": (
        "self._tables.of(x.dtype if self.dtype is None else self.dtype)",
        "self._tables.of(torch.float32)"),
    "rotary rows of the input's type whatever was asked for": (
        "x.dtype if self.dtype is None else self.dtype", "x.dtype"),
    "sine and cosine exchanged": ("cos, sin = rows.chunk", "sin, cos = rows.chunk"),
    "axes in the order of sequences": (
        "position_ids.movedim(0, -1)", "position_ids.reshape(*position_ids.shape[1:], -1)"),
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
