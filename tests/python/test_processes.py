"""Forks, and the end of a process."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import phasor_tables
from phasor_tables import local

TIMEOUT = 60


def in_child(work):
    """Runs work() in a forked process; its exit status says whether it returned True."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return pid


def assert_well(pids):
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [0] * len(pids)


def run_script(source, *arguments):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(source), *arguments], text=True,
                          capture_output=True, timeout=TIMEOUT)


def test_tables_go_on_in_forked_processes(client):
    table = client.sinusoidal(width=512)
    cursor = table.cursor(0)
    for _ in range(70):  # past the middle: the next block is on its way
        cursor.next()
    expected = local.sinusoidal(512)

    def work():
        fresh = phasor_tables.Client(client._transport._target).sinusoidal(width=8)
        return (np.array_equal(cursor.next(), expected.read(70, 1)[0])  # a block held before
                and np.array_equal(table.read(4000, 5000), expected.read(4000, 5000))
                and np.array_equal(table.gather([1, 10**9]), expected.gather([1, 10**9]))
                and fresh.read(0, 1).shape == (1, 8))

    assert_well([in_child(work) for _ in range(4)])
    assert np.array_equal(table.read(9000, 300), expected.read(9000, 300))


def test_forked_after_import_alone(server):
    result = run_script("""
        import os, sys
        import phasor_tables
        pid = os.fork()
        rows = phasor_tables.Client(sys.argv[1]).sinusoidal(width=4).read(0, 3)
        assert rows.tobytes() == phasor_tables.local.sinusoidal(width=4).read(0, 3).tobytes()
        if pid:
            assert os.waitpid(pid, 0)[1] == 0
    """, server.address)
    assert result.returncode == 0, result.stderr


def test_fork_while_other_threads_read(client):
    import threading
    table = client.sinusoidal(width=128)
    stop = threading.Event()

    def reading():
        position = 0
        while not stop.is_set():
            table.read(position, 1)
            position += 500

    threads = [threading.Thread(target=reading) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert_well([in_child(lambda: table.read(10**7, 9).shape == (9, 128))])
    finally:
        stop.set()
        for thread in threads:
            thread.join()


FORK_BESIDE_ASYNCIO = """
    import asyncio, os, sys
    from phasor_tables import Client, aio, errors, local

    def forked(work):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                work()
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(pid, 0)[1] == 0

    expected = local.sinusoidal(512)
    client = Client(sys.argv[1], timeout=1000)  # longer than the script may take
    table = client.sinusoidal(512)

    async def main(close):
        asynchronous = aio.Client(sys.argv[1])
        await (await asynchronous.sinusoidal(512)).read(0, 1)
        kept.append(asynchronous)
        if close:
            cycle = [asynchronous._transport._channel]
            cycle.append(cycle)  # freed by the collector alone
            await asynchronous.close()

    kept = []
"""


def test_fork_after_an_asyncio_client_was_closed(server):
    result = run_script(FORK_BESIDE_ASYNCIO + """
    asyncio.run(main(close=True))

    def work():
        assert table.read(9000, 300).tobytes() == expected.read(9000, 300).tobytes()

    forked(work)
    """, server.address)
    assert result.returncode == 0, result.stderr


def test_fork_beside_a_connected_asyncio_client_is_unavailable_at_once(server):
    result = run_script(FORK_BESIDE_ASYNCIO + """
    asyncio.run(main(close=False))

    async def asynchronously():
        await aio.Client(sys.argv[1], timeout=1000).sinusoidal(8)

    def refused(call):
        try:
            call()
        except errors.Unavailable as error:
            assert "asyncio" in str(error)
            return
        raise AssertionError("it went well")

    def work():
        refused(lambda: table.read(9000, 300))
        refused(lambda: table.read(9000, 1))  # the start of a block that is fetched
        refused(lambda: Client(sys.argv[1], timeout=1000).sinusoidal(8))
        refused(lambda: asyncio.run(asynchronously()))
        fallen_back = Client(sys.argv[1], fallback="local", timeout=1000).sinusoidal(512)
        assert fallen_back.read(9000, 300).tobytes() == expected.read(9000, 300).tobytes()

    forked(work)
    assert table.read(9000, 300).tobytes() == expected.read(9000, 300).tobytes()
    """, server.address)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "client.close()"])
def test_the_process_ends_with_work_under_way(server, ending):
    result = run_script(f"""
        import sys
        import phasor_tables
        client = phasor_tables.Client(sys.argv[1])
        table = client.sinusoidal(width=512)
        cursor = table.cursor(0)
        for _ in range(65):
            cursor.next()  # the next block is on its way
        {ending}
    """, server.address)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_process_ends_with_a_call_that_hangs():
    result = run_script("""
        import concurrent.futures, threading
        import grpc
        import phasor_tables
        from phasor_tables import _wire

        class Hangs(grpc.GenericRpcHandler):
            def service(self, details):
                if details.method.endswith("GetTable"):
                    return grpc.unary_unary_rpc_method_handler(self.table)
                return grpc.unary_unary_rpc_method_handler(lambda request, context: entered.set()
                                                           or never.wait())

            def table(self, request, context):
                request = _wire.message("GetTableRequest").FromString(request)
                return _wire.message("GetTableResponse")(
                    spec=request.spec, fingerprint=request.expected_fingerprint, row_width=4,
                    row_bytes=16).SerializeToString()

        entered, never = threading.Event(), threading.Event()
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        server.add_generic_rpc_handlers((Hangs(),))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        table = phasor_tables.Client(f"127.0.0.1:{port}", timeout=30).sinusoidal(width=4)
        threading.Thread(target=lambda: table.read(0, 1), daemon=True).start()
        entered.wait()
        threads = [t.name for t in threading.enumerate() if not t.daemon
                   and t is not threading.main_thread() and "ThreadPool" not in t.name]
        assert not threads, threads
        never.set()
    """)
    assert result.returncode == 0, result.stderr
