"""How fast the Python package is, beside what it could be at best, in one run.

    PYTHONPATH=build/python_package /usr/bin/python3 bench/python_client.py [PHASORD]

Prints a line for each: its rate or time, that of the limit, and their ratio,
the median over rounds in which both are measured one after the other. Gathers
are timed by the processor time of their thread, which others leave alone.
"""

import ctypes
import pathlib
import re
import statistics
import subprocess
import sys
import time

import grpc
import numpy as np

import phasor_tables
from phasor_tables import _channel, _library, _wire, local

ROUNDS = 15


def seconds(work, clock):
    start = clock()
    work()
    return clock() - start


def beside(name, bar, work, limit, scale, unit, higher_is_better, clock=time.perf_counter):
    """Measures both in turn; prints medians and the median ratio."""
    work(), limit()
    pairs = [(seconds(work, clock), seconds(limit, clock)) for _ in range(ROUNDS)]
    ours, best = (statistics.median(times) for times in zip(*pairs))
    ratio = statistics.median(b / a if higher_is_better else a / b for a, b in pairs)
    shown = [scale / t if higher_is_better else t * scale for t in (ours, best)]
    print(f"{name:55} {shown[0]:9.2f} {unit:5} beside {shown[1]:9.2f}  ratio {ratio:5.2f} ({bar})")


def gather_from_blocks(client):
    for width in (64, 128, 512, 1024):
        table = client.sinusoidal(width=width)
        whole = np.array(table.read(0, 16384), subok=False)
        rng = np.random.default_rng(1)
        for what, top in (("one block", 128), ("16384 rows", 16384)):
            positions = rng.integers(0, top, 256)
            for position in positions.tolist():
                table.read(position, 1)
            out = np.empty((256, width), np.float32)
            assert np.array_equal(table.gather(positions, out=out), whole[positions])
            before = client.counters().rpcs
            beside(f"gather 256 x {width} of {what}, from blocks / fancy index", "<= 5",
                   lambda: [table.gather(positions) for _ in range(50)],
                   lambda: [whole[positions] for _ in range(50)], 1e6 / 50, "us", False,
                   time.thread_time)
            beside("  the same into out / np.take into out", "no bar",
                   lambda: [table.gather(positions, out=out) for _ in range(50)],
                   lambda: [np.take(whole, positions, axis=0, out=out, mode="clip")
                            for _ in range(50)], 1e6 / 50, "us", False, time.thread_time)
            assert client.counters().rpcs == before


def read_into(client, address):
    table = client.sinusoidal(width=512)
    rows = 32768
    out = np.zeros((rows, 512), np.float32)
    request = table._table.key.request("ReadRows", start_position=0, row_count=rows)
    channel = grpc.insecure_channel(address, _channel.CHANNEL_OPTIONS)
    method = channel.unary_stream(_wire.SERVICE + "ReadRows")
    joined = b"".join(method(request))
    table.read(0, rows, out=out)
    assert joined[-2048:] == out.tobytes()[-2048:]
    beside("read 64 MiB into out / bare stream, joined", ">= 0.8",
           lambda: table.read(0, rows, out=out), lambda: b"".join(method(request)),
           out.nbytes / 1e9, "GB/s", True)


def local_read():
    table = local.sinusoidal(width=512)
    out = np.zeros((65536, 512), np.float32)
    kernel = table._table.key.kernel._table
    error = _library._Error()

    def bare():
        _library._phasor.phasor_read(kernel, 0, 65536, out.ctypes.data, out.nbytes,
                                     ctypes.byref(error))

    beside("local read 128 MiB into touched out / the kernel's call", ">= 0.8",
           lambda: table.read(0, 65536, out=out), bare, out.nbytes / 1e9, "GB/s", True)


def main():
    root = pathlib.Path(__file__).resolve().parents[1]
    phasord = sys.argv[1] if len(sys.argv) > 1 else root / "build/bin/phasord"
    server = subprocess.Popen([phasord, "--listen=127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    try:
        ready = filter(None, (re.match(r"phasord ready on (\S+)", line) for line in server.stderr))
        address = next(ready)[1]
        print(f"Python {sys.version.split()[0]}, grpcio {grpc.__version__}, numpy {np.__version__}")
        with phasor_tables.Client(address) as client:
            gather_from_blocks(client)
            read_into(client, address)
        local_read()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
