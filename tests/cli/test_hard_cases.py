"""The hardest elements of each type and ladder, by way of the server."""

from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "golden" / "hard_cases.tsv"
BYTES = {"FLOAT32": 4, "FLOAT64": 8, "FLOAT16": 2, "BFLOAT16": 2}


def hardest():
    """One of each (type, ladder, near a midpoint or near zero)."""
    best = {}
    for line in FILE.read_text().splitlines():
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        key = fields[0], fields[1], fields[9]
        if key not in best or float(fields[10]) < float(best[key][10]):
            best[key] = fields
    return best


@pytest.mark.parametrize("case", hardest().values(), ids=[" ".join(k) for k in hardest()])
def test_served(tool, server, case):
    element_type, ladder, width, base, parameter, position, pair, function, bits = case[:9]
    words = ["sinusoidal", f"--ladder={ladder}", f"--width={width}",
             f"--type={element_type.lower()}", f"--server={server}", "--format=raw"]
    if ladder == "explicit":
        words.append(f"--frequencies={float.fromhex(parameter)!r}")
    else:
        words.append(f"--base={float.fromhex(base)!r}")
    if ladder == "downscaled":
        words.append(f"--downscale_shift={float.fromhex(parameter)!r}")
    at = BYTES[element_type] * (2 * int(pair) + (function == "cos"))
    start = int(position) - 1
    gathered = tool.out("gather", *words, f"--positions={position}")
    rows = tool.out("rows", *words, f"--start={start}", "--count=2")
    for row in (gathered, rows[len(rows) // 2:]):
        assert row[at:at + BYTES[element_type]][::-1].hex() == bits
