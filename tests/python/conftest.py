"""The package as it was built, a server beside it, and an oracle that knows neither."""

import pathlib
import sys

import numpy as np
import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "integration"), str(TESTS / "cli")]

# Why tests are skipped where requirements.txt could not be installed.
NO_TRANSFORMERS = "no transformers: PyPI was out of reach when the tests' packages were installed"

from exact_tables import values_of  # noqa: E402
from phasord import Server  # noqa: E402

import phasor_tables  # noqa: E402
from phasor_tables import local  # noqa: E402


@pytest.fixture(scope="session")
def server():
    server = Server()
    yield server
    assert server.terminate() == 0, "".join(server.log)


@pytest.fixture
def client(server):
    with phasor_tables.Client(server.address) as client:
        yield client


@pytest.fixture(params=["local", "server"])
def opener(request):
    """What opens tables: here, and at a server."""
    return local if request.param == "local" else request.getfixturevalue("client")


def values(rows, element_type="float32"):
    """The elements as float64, exactly."""
    array = np.array(rows, subok=False)
    if element_type == "bfloat16":
        array = array.view("<u2")
    return values_of(array, element_type)
