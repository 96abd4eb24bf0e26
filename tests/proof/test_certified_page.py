"""docs/certified-tables.md: its digests are those of the file, its commands give them."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN_DIR = Path(os.environ.get("PHASOR_BIN_DIR", ROOT / "build" / "bin"))
PAGE = (ROOT / "docs" / "certified-tables.md").read_text()


def digests():
    lines = (ROOT / "tests" / "golden" / "certified.tsv").read_text().splitlines()
    fields = [line.split("\t") for line in lines if not line.startswith("#")]
    return {tuple(f[:5]): f[5] for f in fields}


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.S)[1]


def command(tmp_path, line):
    (tmp_path / "build").mkdir(exist_ok=True)
    if not (tmp_path / "build" / "bin").exists():
        (tmp_path / "build" / "bin").symlink_to(BIN_DIR)
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=tmp_path, check=True,
                          capture_output=True, text=True, timeout=120).stdout


WANTED = ("500000", "128", "COS_SIN_HALVES", "FLOAT32", "131072")


def test_page_shows_the_digests_of_the_file():
    shown = re.findall(r"^\| (\d+) \| (\d+) \| `(\w+)` \| `([0-9a-f]{64})` \|$", PAGE, re.M)
    assert {(base, width, layout, "FLOAT32", "131072"): digest
            for base, width, layout, digest in shown} == \
        {k: v for k, v in digests().items() if k[3:] == ("FLOAT32", "131072")}
    assert len(shown) == 31


def test_command_prints_the_digest(tmp_path):
    assert command(tmp_path, block("sh")).split()[0] == digests()[WANTED]


def test_numpy_prints_the_digest(tmp_path):
    line = block("sh").split(" | ")[0].replace("--format=raw --output=-", "--output=table.npy")
    command(tmp_path, line)
    printed = subprocess.run([sys.executable, "-c", block("python")], cwd=tmp_path, check=True,
                             capture_output=True, text=True, timeout=120).stdout
    assert printed.strip() == digests()[WANTED]
