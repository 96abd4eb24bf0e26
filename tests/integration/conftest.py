"""The server as a process, and Python's own stubs of its protocol.

Nothing of the C++ client is used: the stubs are made here, from the .proto
files, and speak through Debian's grpcio.
"""

import importlib
import os
import pathlib
import re
import subprocess
import sys
import threading
import types

import grpc
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PHASOR_BUILD_DIR", ROOT / "build"))
TIMEOUT = 60  # seconds; a call that hangs fails


class Server:
    """A phasord of its own on a free port."""

    def __init__(self, *flags, listen="127.0.0.1:0"):
        self.log = []
        self.process = subprocess.Popen(
            [BUILD / "bin/phasord", f"--listen={listen}", *flags],
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in self.process.stderr:
            self.log.append(line)
            ready = re.match(r"phasord ready on (\S+)", line)
            if ready:
                self.address = ready[1]
                break
        else:
            raise RuntimeError("phasord did not start: " + "".join(self.log))
        # Read on, or the server would stop at a full pipe.
        self.reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr))
        self.reader.start()

    def wait(self):
        status = self.process.wait(TIMEOUT)
        self.reader.join()
        self.process.stderr.close()
        return status

    def terminate(self):
        self.process.terminate()
        return self.wait()


@pytest.fixture(scope="session")
def server():
    server = Server()
    yield server
    assert server.terminate() == 0, "".join(server.log)


@pytest.fixture(scope="session")
def v1(tmp_path_factory):
    """The messages of phasor.v1, and `PositionTableServiceStub`."""
    out = tmp_path_factory.mktemp("stubs")
    protos = ["phasor/v1/table_spec.proto", "phasor/v1/position_table_service.proto"]
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
