"""The server as a process, and Python's own stubs of its protocol.

Nothing of the C++ client is used: the stubs are made here, from the .proto
files, and speak through Debian's grpcio.
"""

import importlib
import subprocess
import sys
import types

import grpc
import pytest

from phasord import BUILD, ROOT, TIMEOUT, Server


@pytest.fixture(scope="session")
def server():
    server = Server()
    yield server
    assert server.terminate() == 0, "".join(server.log)


@pytest.fixture(scope="session")
def v1(tmp_path_factory):
    """The messages of phasor.v1, and `PositionTableServiceStub`."""
    out = tmp_path_factory.mktemp("stubs")
    protos = ["phasor/v1/table_spec.proto", "phasor/v1/model.proto",
              "phasor/v1/position_table_service.proto"]
    subprocess.run(
        ["protoc", "-I", ROOT / "proto", f"--python_out={out}", f"--grpc_python_out={out}",
         "--plugin=protoc-gen-grpc_python=/usr/bin/grpc_python_plugin", *protos],
        check=True,
    )
    sys.path.insert(0, str(out))
    names = {}
    for module in ("table_spec_pb2", "position_table_service_pb2",
                   "position_table_service_pb2_grpc"):
        names.update(vars(importlib.import_module("phasor.v1." + module)))
    return types.SimpleNamespace(**{k: v for k, v in names.items() if not k.startswith("_")})


@pytest.fixture(scope="session")
def channel(server):
    """A channel as a newcomer makes one: no option set but that no proxy is asked."""
    with grpc.insecure_channel(server.address, [("grpc.enable_http_proxy", 0)]) as channel:
        yield channel


@pytest.fixture(scope="session")
def stub(channel, v1):
    return v1.PositionTableServiceStub(channel)


@pytest.fixture(scope="session")
def local():
    """local(scheme_and_flags...): the bytes that the tool computes without a server."""

    def run(verb, *flags):
        return subprocess.run(
            [BUILD / "bin/phasor", verb, *flags, "--local", "--format=raw"],
            stdout=subprocess.PIPE, check=True, timeout=TIMEOUT,
        ).stdout

    return run
