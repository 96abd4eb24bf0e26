"""grpc-js, which has its own HTTP/2, reads the bytes that the tool computes."""

import base64
import json
import subprocess

import pytest

from conftest import ROOT, TIMEOUT


def read_by_javascript(server, **request):
    ended = subprocess.run(
        ["node", ROOT / "tests/integration/js/rows.js", server.address, ROOT / "proto",
         json.dumps(request)],
        capture_output=True, text=True, timeout=TIMEOUT,
    )
    assert ended.returncode == 0, ended.stderr
    answers = map(json.loads, ended.stdout.splitlines())
    return {answer["method"]: base64.b64decode(answer["data"]) for answer in answers}


@pytest.mark.parametrize("flags,spec", [
    (["sinusoidal", "--width=512"], {"sinusoidal": {"width": 512}}),
    (["sinusoidal", "--width=96", "--base=500000", "--layout=cos_sin_duplicated_halves",
      "--type=bfloat16"],
     {"sinusoidal": {"width": 96, "base": 500000, "layout": "LAYOUT_COS_SIN_DUPLICATED_HALVES"},
      "elementType": "ELEMENT_TYPE_BFLOAT16"}),
    (["learned_init", "--max_positions=100000", "--width=9", "--seed=42", "--type=float64"],
     {"learnedInit": {"maxPositions": 100000, "width": 9, "seed": 42},
      "elementType": "ELEMENT_TYPE_FLOAT64"}),
], ids=["float32", "bfloat16", "float64"])
def test_same_bytes(server, local, flags, spec):
    wanted = local("rows", *flags, "--start=1000", "--count=700")
    assert len(wanted) > 0
    read = read_by_javascript(server, spec=spec, startPosition=1000, rowCount=700)
    assert read == {"GetRows": wanted, "ReadRows": wanted}


def test_more_than_one_message(server, local):
    wanted = local("rows", "sinusoidal", "--width=128", "--count=8192")
    assert len(wanted) == 4 << 20
    spec = {"sinusoidal": {"width": 128}}
    assert read_by_javascript(server, spec=spec, rowCount=8192) == {"ReadRows": wanted}
