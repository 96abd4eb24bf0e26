"""Start, health, reflection and end of the server, seen from outside."""

import os
import signal
import socket
import subprocess

import grpc
import pytest

from conftest import BUILD, ROOT, TIMEOUT, Server

SERVICE = "phasor.v1.PositionTableService"
BUF = ROOT / "tests/integration/js/node_modules/.bin/buf"


def health(channel, name):
    """Check of grpc.health.v1: the status, 1 for SERVING."""
    check = channel.unary_unary("/grpc.health.v1.Health/Check")
    request = b"\x0a" + bytes([len(name)]) + name.encode() if name else b""
    answer = check(request, timeout=TIMEOUT)
    assert answer[:1] == b"\x08"
    return answer[1]


@pytest.mark.parametrize("name", ["", SERVICE])
def test_healthy(channel, name):
    assert health(channel, name) == 1


def test_health_of_an_unknown_service(channel):
    with pytest.raises(grpc.RpcError) as error:
        health(channel, "phasor.v1.NoSuchService")
    assert error.value.code() == grpc.StatusCode.NOT_FOUND


def buf_curl(server, *arguments):
    return subprocess.run(
        [BUF, "curl", "--protocol=grpc", "--http2-prior-knowledge", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=True,
    ).stdout


def test_reflection_lists_the_services(server):
    methods = buf_curl(server, "--list-methods", f"http://{server.address}").split()
    assert f"{SERVICE}/GetRows" in methods
    assert f"{SERVICE}/ReadRows" in methods
    assert "grpc.health.v1.Health/Check" in methods


def test_reflection_is_enough_to_call(server):
    answer = buf_curl(server, "--data", '{"spec": {"sinusoidal": {"width": 512}}}',
                      f"http://{server.address}/{SERVICE}/GetTable")
    assert '"rowWidth":"512"' in answer.replace(" ", "")


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_0(sent):
    server = Server()
    server.process.send_signal(sent)
    assert server.wait() == 0, "".join(server.log)


def test_a_stream_in_flight_is_answered_to_its_end(v1):
    server = Server()
    spec = v1.TableSpec(sinusoidal=v1.Sinusoidal(width=128))
    with grpc.insecure_channel(server.address, [("grpc.enable_http_proxy", 0)]) as channel:
        stub = v1.PositionTableServiceStub(channel)
        stream = stub.ReadRows(v1.ReadRowsRequest(spec=spec, row_count=32768), timeout=TIMEOUT)
        rows = next(stream).rows.row_count
        server.process.terminate()
        rows += sum(message.rows.row_count for message in stream)
    assert rows == 32768
    assert server.wait() == 0, "".join(server.log)


def test_closed_standard_streams_get_no_connection(tmp_path):
    """What is written to a standard stream must never reach a client."""
    path = tmp_path / "phasor.sock"
    process = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', BUILD / "bin/phasord",
                                f"--listen=unix:{path}"])
    with grpc.insecure_channel(f"unix:{path}") as channel:
        grpc.channel_ready_future(channel).result(TIMEOUT)
        assert health(channel, "") == 1
        streams = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in (0, 1, 2)]
    process.terminate()
    assert process.wait(TIMEOUT) == 0
    assert streams == ["/dev/null"] * 3


@pytest.mark.parametrize("flag", ["--help", "--version"])
@pytest.mark.parametrize("stdout, reason", [(">/dev/full", "No space left on device"),
                                            (">&-", "Bad file descriptor")])
def test_an_answer_that_cannot_be_written_is_an_error(flag, stdout, reason):
    ended = subprocess.run(["sh", "-c", f'exec "$0" "$@" {stdout}', BUILD / "bin/phasord", flag],
                           capture_output=True, text=True, timeout=TIMEOUT)
    assert (ended.returncode, ended.stderr) == (1, f"phasord: cannot write stdout: {reason}\n")


def fails_to_start(*flags):
    """Runs a server that is expected to end by itself: (status, what it said)."""
    ended = subprocess.run([BUILD / "bin/phasord", *flags], capture_output=True, text=True,
                           timeout=TIMEOUT)
    return ended.returncode, ended.stderr


def test_a_taken_port_is_named(server):
    status, said = fails_to_start(f"--listen={server.address}")
    assert status == 1
    assert server.address in said
    assert "phasord ready" not in said


def test_a_port_taken_by_another_program_is_named():
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = "127.0.0.1:%d" % other.getsockname()[1]
        status, said = fails_to_start(f"--listen={address}")
    assert status == 1
    assert address in said


def test_a_socket_of_a_live_server_is_not_taken_over(tmp_path):
    path = tmp_path / "phasor.sock"
    server = Server(listen=f"unix:{path}")
    status, said = fails_to_start(f"--listen=unix:{path}")
    assert status == 1
    assert str(path) in said
    with grpc.insecure_channel(f"unix:{path}") as channel:
        assert health(channel, "") == 1
    assert server.terminate() == 0


def test_a_stale_socket_is_replaced(tmp_path):
    path = tmp_path / "phasor.sock"
    first = Server(listen=f"unix:{path}")
    first.process.kill()
    first.wait()
    assert path.exists()
    second = Server(listen=f"unix:{path}")
    with grpc.insecure_channel(f"unix:{path}") as channel:
        assert health(channel, "") == 1
    assert second.terminate() == 0


def test_an_open_network_is_refused_unless_it_is_asked_for():
    status, said = fails_to_start("--listen=0.0.0.0:0")
    assert status != 0
    assert "--insecure_network" in said


def test_an_unknown_flag_is_named():
    status, said = fails_to_start("--no_such_flag=1")
    assert status != 0
    assert "no_such_flag" in said
