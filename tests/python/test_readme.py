"""What python/README.md shows works."""

import pathlib
import re

import pytest

README = pathlib.Path(__file__).resolve().parents[2] / "python/README.md"


def test_readme(server):
    pytest.importorskip("torch")
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.M | re.S)
    assert len(blocks) == 3
    names = {}
    for block in blocks:
        exec(block.replace("127.0.0.1:50051", server.address), names)
    assert names["client"].counters().local_fallbacks == 0
    assert names["y"].shape == (2, 10, 512)
