import os
import pty
import struct
import subprocess
import xml.etree.ElementTree
import zlib

import pytest

from conftest import BIN_DIR

PLOT = ["plot", "sinusoidal", "--width=64", "--count=100", "--local"]


def test_text_fits_and_is_plain(tool):
    text = tool.out(*PLOT).decode()
    lines = text.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert "\x1b" not in text and "█" in text
    assert "sinusoidal, width 64" in text and "fingerprint" in text


def test_default_count_and_start(tool):
    assert tool.out("plot", "sinusoidal", "--width=64", "--local")
    text = tool.out("plot", "learned_init", "--max_positions=3", "--width=8", "--local").decode()
    assert "learned_init" in text and "radians" not in text
    assert "1000" in tool.out(*PLOT, "--start=1000").decode()


@pytest.mark.parametrize("environment, code", [
    ({"TERM": "xterm", "COLORTERM": "truecolor"}, "\x1b[38;2;"),
    ({"TERM": "xterm-256color", "COLORTERM": ""}, "\x1b[38;5;"),
    ({"TERM": "xterm-256color", "NO_COLOR": "1"}, None),
])
def test_colours_of_a_terminal(environment, code):
    leader, follower = pty.openpty()
    environment = {"PATH": os.environ["PATH"], **environment}
    process = subprocess.Popen([BIN_DIR / "phasor", *PLOT], stdout=follower, env=environment)
    os.close(follower)
    text = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        text += piece
    assert process.wait() == 0
    assert (code in text.decode()) if code else ("\x1b" not in text.decode())


def test_png(tool):
    assert tool.out(*PLOT, "--output=x.png") == b""
    content = (tool.directory / "x.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert 400 < width < 1400 and 400 < height < 1000
    data, at = b"", 8
    while at < len(content):
        size, kind = struct.unpack(">I4s", content[at:at + 8])
        if kind == b"IDAT":
            data += content[at + 8:at + 8 + size]
        at += 12 + size
    assert len(zlib.decompress(data)) == height * (1 + 3 * width)


def test_svg(tool):
    tool.out(*PLOT, "--output=x.svg")
    tree = xml.etree.ElementTree.parse(tool.directory / "x.svg")
    texts = [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]
    for text in ("column", "position", "pair", "sinusoidal, width 64, base 10000"):
        assert text in texts


def test_large_tables_are_sampled(tool):
    for words in (["plot", "sinusoidal", "--width=65536", "--type=float64"],
                  ["plot", "sinusoidal", "--width=512", "--start=-9007199254740992",
                   "--count=18014398509481985"],
                  ["plot", "learned_init", "--max_positions=4611686018427387904", "--width=1",
                   "--count=4611686018427387904"]):
        tool.out(*words, "--local")
        tool.out(*words, "--local", "--output=x.svg")


def test_refusals(tool):
    tool.refused(*PLOT, "--output=x.jpg", names=["--output=x.jpg"])
    tool.refused(*PLOT, "--format=csv", names=["--format"])
    tool.refused("plot", "sinusoidal", "--width=64", "--count=0", "--local", names=["--count=0"])
    tool.refused("plot", "learned_init", "--max_positions=3", "--width=8", "--count=4", "--local",
                 names=["--count=4", "row_count"])
