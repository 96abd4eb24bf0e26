"""The tool and a server: the same bits as --local, and what happens without one."""

import concurrent.futures
import contextlib
import json
import os
import socket
import struct
import subprocess
import threading
import time

import grpc
import numpy as np
import pytest

from conftest import BIN_DIR, NO_SERVER, phasord
from exact_tables import NPY_TYPES


@pytest.mark.parametrize("words", [
    ["rows", "sinusoidal", "--width=4", "--count=3"],
    ["rows", "sinusoidal", "--width=512", "--start=-100", "--count=20000", "--format=raw"],
    ["rows", "sinusoidal", "--width=6", "--count=7", "--base=500000", "--ladder=inclusive",
     "--layout=cos_sin_duplicated_halves", "--position_offset=3", "--zero_row=5",
     "--format=table"],
    ["rows", "sinusoidal", "--width=4", "--count=3", "--ladder=explicit", "--frequencies=1,0"],
    ["rows", "sinusoidal", "--width=4", "--count=0", "--format=npy"],
    ["rows", "learned_init", "--max_positions=9", "--width=3", "--count=9", "--seed=-7"],
    ["gather", "sinusoidal", "--width=4", "--positions=5,5,1048575"],
    ["gather", "sinusoidal", "--width=4", "--positions=0.5,-1e3"],
    ["freqs", "sinusoidal", "--width=64", "--ladder=downscaled", "--downscale_shift=1"],
    ["table", "sinusoidal", "--width=64", "--type=float16"],
    ["plot", "sinusoidal", "--width=64"],
] + [["rows", "sinusoidal", "--width=64", "--count=99", f"--type={t}", "--format=raw"]
     for t in NPY_TYPES])
def test_a_server_gives_the_same_bits(tool, server, words):
    assert tool.out(*words, f"--server={server}") == tool.out(*words, "--local")


def test_large_gathers_and_shifts_are_cut_into_calls(tool, server):
    positions = "\n".join(str(i * 7919 % 100003) for i in range(100000))
    (tool.directory / "positions").write_text(positions)
    gather = ["gather", "sinusoidal", "--width=64", "--positions=@positions", "--output=g.npy"]
    tool.out(*gather, f"--server={server}")
    remote = (tool.directory / "g.npy").read_bytes()
    tool.out(*gather, "--local")
    assert remote == (tool.directory / "g.npy").read_bytes()
    shift = ["shift", "sinusoidal", "--width=64", "--by=0.5", "--input=g.npy", "--format=raw"]
    assert tool.out(*shift, f"--server={server}") == tool.out(*shift, "--local")


def test_exactly_one_message_more(tool, server):
    """8192 x 128 float32 are 4 MiB, which with a head is more than a message."""
    array = tool.npy("rows", "sinusoidal", "--width=128", "--count=8192", f"--server={server}")
    assert array.shape == (8192, 128)
    np.save(tool.directory / "in.npy", array)
    shifted = tool.npy("shift", "sinusoidal", "--width=128", "--by=1", "--input=in.npy",
                       f"--server={server}")
    assert np.abs(shifted[:-1] - array[1:]).max() < 1e-6


def test_server_by_environment_flag_and_local(tool, server):
    words = ["rows", "sinusoidal", "--width=4", "--count=3"]
    expected = tool.out(*words, "--local")
    assert tool.out(*words, env={"PHASOR_SERVER": server}) == expected
    assert tool.out(*words, f"--server={server}", env={"PHASOR_SERVER": NO_SERVER}) == expected
    assert tool.out(*words, "--local", f"--server={NO_SERVER}") == expected
    assert tool.out(*words, "--local", env={"PHASOR_SERVER": NO_SERVER}) == expected
    tool.refused(*words, "--timeout=1s", env={"PHASOR_SERVER": NO_SERVER}, status=1)
    tool.refused(*words, "--timeout=1s", "--local=false", f"--server={NO_SERVER}", status=1)


@pytest.mark.parametrize("words", [
    ["rows", "sinusoidal", "--width=4", "--count=3"],
    ["rows", "sinusoidal", "--width=4", "--count=3", "--output=x.npy"],
    ["rows", "sinusoidal", "--width=4", "--count=0", "--format=npy"],
    ["gather", "sinusoidal", "--width=4", "--positions=1"],
    ["freqs", "sinusoidal", "--width=4"],
    ["table", "sinusoidal", "--width=4"],
    ["plot", "sinusoidal", "--width=4"],
    ["tables"], ["health"], ["info"],
])
def test_without_a_server(tool, words):
    began = time.monotonic()
    tool.refused(*words, f"--server={NO_SERVER}", "--timeout=1s", names=[NO_SERVER, "--server"],
                 status=1)
    assert time.monotonic() - began < 8
    assert list(tool.directory.iterdir()) == []


def address_of(listening):
    return "127.0.0.1:%d" % listening.getsockname()[1]


@contextlib.contextmanager
def answering(answer):
    """The address of something that is no phasord: `answer(connection)` each time."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    answer(listening.accept()[0])
        threading.Thread(target=serve, daemon=True).start()
        yield address_of(listening)
        listening.shutdown(socket.SHUT_RDWR)


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def speak_http(connection):
    with connection:
        connection.recv(100)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def refused_connection(tool, address, reason):
    """A failure to connect is one plain sentence, and in it none of gRPC's words."""
    line = tool.refused("rows", "sinusoidal", "--width=4", "--count=3", "--timeout=2s",
                        f"--server={address}", status=1)
    assert line == (f"phasor: no answer from {address}: {reason}; start phasord there, or name "
                    "another server with --server, or compute here with --local\n")


def test_a_refused_connection(tool):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = address_of(listening)
    # Again and again: which of gRPC's attempts ends a call is chance.
    for _ in range(5):
        refused_connection(tool, address, "nothing listens there")


def test_a_connection_that_is_reset(tool):
    with answering(reset) as address:
        refused_connection(tool, address, "the connection was ended from there")


def test_a_server_of_web_pages(tool):
    with answering(speak_http) as address:
        refused_connection(tool, address, "what answers there is no phasord")


def test_a_server_that_says_nothing(tool):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        refused_connection(tool, address_of(silent),
                           "nothing came back in the time of --timeout")


def test_a_path_without_a_socket(tool):
    refused_connection(tool, f"unix:{tool.directory}/none", "there is no such socket")


def test_a_socket_that_a_server_left_behind(tool):
    path = f"{tool.directory}/stale"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
    refused_connection(tool, f"unix:{path}", "nothing listens there")


def test_a_server_that_comes_back_while_it_is_asked(tool, tmp_path):
    """Found within the call's time, though nobody polls between the tries but the wait."""
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(path))
        gone.listen()
        asking = subprocess.Popen(
            [BIN_DIR / "phasor", "rows", "sinusoidal", "--width=4", "--count=1", "--timeout=4s",
             f"--server=unix:{path}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3):
            gone.accept()[0].close()
    try:
        with phasord(f"--listen=unix:{path}"):
            out, err = asking.communicate(timeout=30)
    finally:
        asking.kill()
    assert (asking.returncode, out, err) == (0, b"0,1,0,1\n", b"")


def test_a_name_that_stands_for_nothing(tool):
    refused_connection(tool, "no-such-host.invalid:50051", "the name does not resolve")


def test_a_service_of_another_kind(tool):
    """It speaks gRPC, and knows none of the methods."""
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    refused_connection(tool, f"127.0.0.1:{port}", "what answers there is no phasord")
    server.stop(None).wait()


def test_a_wrong_request_is_told_without_a_server(tool):
    tool.refused("rows", "sinusoidal", "--width=7", "--count=3", f"--server={NO_SERVER}",
                 "--timeout=1s", names=["--width=7", "spec.sinusoidal.width"])


@pytest.mark.parametrize("timeout, seconds", [("500ms", 0.5), ("1s", 1), ("2", 2)])
def test_timeout_bounds_a_call_to_a_server_that_says_nothing(tool, timeout, seconds):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        tool.refused("rows", "sinusoidal", "--width=4", "--count=3", f"--timeout={timeout}",
                     f"--server=127.0.0.1:{silent.getsockname()[1]}", status=1)
        assert time.monotonic() - began < seconds + 7


def test_a_server_that_dies_in_the_middle_leaves_no_file(tool):
    with phasord() as (process, address):
        export = subprocess.Popen([BIN_DIR / "phasor", "export", "sinusoidal", "--width=4096",
                                   "--count=10000000", "--output=long.npy", "--timeout=2s",
                                   f"--server={address}"], cwd=tool.directory,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not any(path.stat().st_size for path in tool.directory.iterdir()):
            assert export.poll() is None
        process.kill()
        out, line = export.communicate(timeout=60)
    assert (export.returncode, out) == (1, b"")
    assert line.startswith(b"phasor: ") and line.count(b"\n") == 1
    assert os.listdir(tool.directory) == []


def test_closed_standard_streams_get_no_connection(tool, server):
    closed = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', BIN_DIR / "phasor"]
    words = ["rows", "sinusoidal", "--width=4", "--count=3"]
    flags = [f"--server={server}", "--output=x.npy"]
    assert subprocess.run([*closed, *words, *flags], cwd=tool.directory).returncode == 0
    assert (tool.directory / "x.npy").read_bytes() == tool.out(*words, "--local", "--format=npy")
    assert subprocess.run([*closed, *words, f"--server={server}"]).returncode == 1
    with socket.create_server(("127.0.0.1", 0)) as silent:
        process = subprocess.Popen([*closed, "health", f"--server={address_of(silent)}"])
        connection, _ = silent.accept()
        streams = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in (0, 1, 2)]
        process.kill()
        process.wait()
        connection.close()
    assert streams == ["/dev/null"] * 3


def test_health_of_a_server_that_drains(tool):
    with phasord("--drain_delay=30s") as (process, address):
        assert tool.out("health", f"--server={address}") == b"SERVING\n"
        process.terminate()
        while True:  # the signal is on its way
            done = tool.run("health", f"--server={address}")
            if done.returncode:
                break
        assert (done.returncode, done.stdout) == (1, b"NOT_SERVING\n")
        assert done.stderr.count(b"\n") == 1


def test_health(tool, server):
    assert tool.out("health", f"--server={server}") == b"SERVING\n"


def test_info(tool, server):
    text = tool.out("info", f"--server={server}").decode()
    values = dict(line.split() for line in text.splitlines())
    assert values["max_message_bytes"] == "4194304" and values["max_width"] == "65536"
    assert values["version"] == tool.out("--version").decode().split()[1]
    assert int(values["settled_elements"]) >= int(values["costly_elements"]) >= 0


def test_local_info_tells_no_limits_of_a_server(tool, server):
    values, local = (
        dict(line.split() for line in tool.out("info", flag).decode().splitlines())
        for flag in (f"--server={server}", "--local"))
    assert set(local) == {"version", "numerics_version", "max_width"}
    assert local.items() <= values.items()


def test_tables(tool, server):
    words = ["sinusoidal", "--width=10", "--base=77", f"--server={server}"]
    fingerprint = json.loads(tool.out("table", *words))["fingerprint"]
    tool.out("rows", *words, "--count=3")
    line = next(line for line in tool.out("tables", f"--server={server}").decode().splitlines()
                if fingerprint in line)
    assert '"width":10' in line and '"base":77' in line


def safetensors(**tensors):
    """A file of float32 tensors, by the format's own description."""
    header, data = {}, b""
    for name, array in tensors.items():
        begin, data = len(data), data + array.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_learned_table(tool, tmp_path):
    rows = np.linspace(-1, 1, 50 * 6, dtype="<f4").reshape(50, 6)
    (tmp_path / "t.safetensors").write_bytes(safetensors(position_embeddings=rows))
    with phasord(f"--table=t={tmp_path}/t.safetensors") as (_, address):
        words = ("learned_table", "--name=t", f"--server={address}")
        assert np.array_equal(tool.npy("rows", *words, "--start=3", "--count=47"), rows[3:])
        assert np.array_equal(tool.npy("gather", *words, "--positions=49,0,0"), rows[[49, 0, 0]])
        half = tool.npy("export", *words, "--count=50", "--type=float16")
        assert np.array_equal(half, rows.astype("<f2"))
        table = json.loads(tool.out("table", *words))
        assert table["row_count"] == 50 and table["last_position"] == 49
        spec = table["spec"]["learned_table"]
        assert (spec["name"], spec["max_positions"], spec["width"]) == ("t", 50, 6)
        assert b'"name":"t"' in tool.out("tables", f"--server={address}")
        assert b"learned_table t, 50 x 6" in tool.out("plot", *words)
        tool.refused("rows", *words, "--count=51", names=["--count=51", "row 50"])
        tool.refused("freqs", *words, names=["have no frequencies"])
        tool.refused("rows", "learned_table", "--name=u", "--count=1", f"--server={address}",
                     names=["--name=u", "is loaded here"])
        tool.refused("rows", *words, "--count=1", "--width=6", names=["--width"])
    tool.refused("rows", "learned_table", "--count=1", names=["--name", "required"])
    tool.refused("rows", "learned_table", "--name=t", "--count=1", "--local",
                 names=["--name=t", "ask a server"])
