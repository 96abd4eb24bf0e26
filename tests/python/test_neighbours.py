"""Beside other large libraries in one process the bits stay."""

import importlib.util
import subprocess
import sys

import pytest

SCRIPT = """
import sys
{imports}
import hashlib
import phasor_tables
from phasor_tables import local
tables = [local.sinusoidal(512, element_type=t) for t in ("float32", "float64", "bfloat16")]
rows = b"".join(t.read(10**6, 500).tobytes() for t in tables)
print(hashlib.sha256(rows + local.learned_init(100, 512).read(0, 100).tobytes()).hexdigest())
client = phasor_tables.Client(sys.argv[1])
assert client.sinusoidal(512).read(10**6, 500).tobytes() == rows[:500 * 2048]
{later}
"""


def digest(server, first="", later=""):
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(imports=first, later=later), server.address],
        capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()[0]


USES = {
    "torch": "torch.set_flush_denormal(True); torch.ones(300, 300) @ torch.ones(300, 300)",
    "onnx": "onnx.TensorProto(dims=[1]).SerializeToString()",
    "jax": "import jax.numpy; jax.numpy.ones(3).sum().block_until_ready()",
}


# Debian's torch has a copy of onnx's messages, beside which onnx can only be loaded before it.
@pytest.mark.parametrize("neighbours", [("torch",), ("onnx",), ("onnx", "torch"), ("jax",)],
                         ids=" and ".join)
def test_bits_stay(server, neighbours):
    for neighbour in neighbours:
        if importlib.util.find_spec(neighbour) is None:  # not imported: it would stay in this process
            pytest.skip(f"no {neighbour}")
    alone = digest(server)
    use = "\n".join(f"import {neighbour}\n{USES[neighbour]}" for neighbour in neighbours)
    assert digest(server, first=use) == alone
    assert digest(server, later=use) == alone
