import os
import pty
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from conftest import BIN_DIR
from exact_tables import NPY_TYPES

SPEC = ["sinusoidal", "--width=6", "--local"]
ROWS = ["rows", *SPEC, "--count=5"]


def test_stdout_of_no_terminal_is_csv(tool):
    assert tool.out(*ROWS) == tool.out(*ROWS, "--format=csv") == tool.out(*ROWS, "--output=-")
    lines = tool.out(*ROWS).decode().splitlines()
    assert len(lines) == 5 and all(line.count(",") == 5 for line in lines)


def test_a_terminal_gets_a_table():
    leader, follower = pty.openpty()
    done = subprocess.run([BIN_DIR / "phasor", *ROWS], stdout=follower, stderr=subprocess.PIPE)
    os.close(follower)
    text = os.read(leader, 65536).decode()
    os.close(leader)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "[5, 6]" in text and "float32" in text and "fingerprint" in text


def test_table_is_shape_type_fingerprint_and_rows(tool):
    text = tool.out(*ROWS, "--format=table", "--type=float16").decode()
    head, rows = text.split("\n\n")
    assert "[5, 6]" in head and "float16" in head
    csv = tool.out(*ROWS, "--format=csv", "--type=float16").decode()
    assert [line.split() for line in rows.splitlines()] == \
        [line.split(",") for line in csv.splitlines()]
    assert len({len(line) for line in rows.splitlines()}) == 1


@pytest.mark.parametrize("suffix, format", [(".npy", "npy"), (".csv", "csv"), (".raw", "raw"),
                                            (".bin", "raw"), (".txt", "csv"), ("", "csv")])
def test_suffix_says_the_format(tool, suffix, format):
    assert tool.out(*ROWS, f"--output=x{suffix}") == b""
    assert (tool.directory / f"x{suffix}").read_bytes() == tool.out(*ROWS, f"--format={format}")


def test_format_wins_over_the_suffix(tool):
    tool.out(*ROWS, "--output=x.npy", "--format=raw")
    assert (tool.directory / "x.npy").read_bytes() == tool.out(*ROWS, "--format=raw")
    tool.refused(*ROWS, "--format=json", names=["--format=json"])
    tool.refused(*ROWS, "--output=", names=["--output="])


@pytest.mark.parametrize("element_type", NPY_TYPES)
def test_npy_raw_and_csv_hold_the_same_elements(tool, element_type):
    words = [*ROWS, f"--type={element_type}", "--start=-3"]
    array = tool.npy(*words)
    assert array.shape == (5, 6) and array.dtype.str == NPY_TYPES[element_type]
    assert array.tobytes() == tool.out(*words, "--format=raw")
    csv = np.array([[float(x) for x in line.split(",")]
                    for line in tool.out(*words).decode().splitlines()])
    if element_type == "bfloat16":
        bits = csv.astype("<f4").view("<u4")
        read_back = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")
    else:
        read_back = csv.astype(NPY_TYPES[element_type])
    assert read_back.tobytes() == array.tobytes()


def test_npy_head(tool):
    content = tool.out(*ROWS, "--format=npy")
    assert content[:8] == b"\x93NUMPY\x01\x00"
    length = 10 + int.from_bytes(content[8:10], "little")
    assert length % 64 == 0 and content[length - 1:length] == b"\n"
    assert eval(content[10:length]) == {"descr": "<f4", "fortran_order": False, "shape": (5, 6)}


def test_decimals_are_the_shortest(tool):
    for line in tool.out("rows", *SPEC, "--count=50").decode().splitlines():
        for text in line.split(","):
            digits = text.lstrip("-").replace(".", "").split("e")[0].strip("0")
            shortest = repr(np.float32(text)).lstrip("-").replace(".", "").split("e")[0].strip("0")
            assert len(digits) <= len(shortest), text


def test_negative_zero(tool):
    words = ["rows", "sinusoidal", "--width=2", "--ladder=explicit", "--frequencies=-1e-19",
             "--start=1", "--count=1", "--local", "--type=float16"]
    assert tool.out(*words) == b"-0,1\n"
    assert tool.npy(*words).tobytes() == b"\x00\x80\x00\x3c"


def test_frequencies(tool):
    words = ["freqs", "sinusoidal", "--width=4", "--local", "--type=float16"]
    array = tool.npy(*words)
    assert array.shape == (2,) and array.dtype.str == "<f8" and list(array) == [1, 0.01]
    assert tool.out(*words, "--format=raw") == array.tobytes()
    assert tool.out(*words).decode().split() == ["1", "0.01"]
    assert "[2]" in tool.out(*words, "--format=table").decode()


def test_a_failure_leaves_nothing(tool):
    tool.refused("rows", *SPEC, "--count=-1", "--output=x.npy", names=["--count"])
    tool.refused("rows", "sinusoidal", "--width=7", "--count=1", "--local", "--output=x.npy")
    assert os.listdir(tool.directory) == []
    (tool.directory / "x.npy").write_text("before")
    tool.refused("rows", *SPEC, "--count=-1", "--output=x.npy")
    assert os.listdir(tool.directory) == ["x.npy"]
    assert (tool.directory / "x.npy").read_text() == "before"


def test_a_file_appears_whole(tool):
    """While a long table is written its final name does not exist; a signal
    leaves nothing."""
    process = subprocess.Popen([BIN_DIR / "phasor", "export", "sinusoidal", "--width=65536",
                                "--count=1000000", "--local", "--output=long.npy"],
                               cwd=tool.directory)
    while not os.listdir(tool.directory):
        assert process.poll() is None
        time.sleep(0.01)
    assert "long.npy" not in os.listdir(tool.directory)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == -signal.SIGTERM
    assert os.listdir(tool.directory) == []


def test_full_disk(tool):
    with open("/dev/full", "wb") as full:
        done = tool.run(*ROWS, stdout=full)
    assert done.returncode == 1 and b"No space left" in done.stderr and done.stderr.count(b"\n") == 1
    with open("/dev/full", "wb") as full:
        assert tool.run("--help", stdout=full).returncode == 1
        assert tool.run("table", *SPEC, stdout=full).returncode == 1
    tool.refused(*ROWS, "--output=/dev/full", names=["/dev/full"], status=1)
    tool.refused(*ROWS, "--output=/nonexistent/x.npy", names=["/nonexistent/x.npy"], status=1)
    tool.refused(*ROWS, "--output=.", status=1)


def test_closed_stdout(tool):
    done = subprocess.run(["sh", "-c", '"$0" "$@" >&-', BIN_DIR / "phasor", *ROWS],
                          stderr=subprocess.PIPE)
    assert done.returncode == 1 and done.stderr.count(b"\n") == 1


def test_a_reader_that_goes_away(tool):
    reader, writer = os.pipe()
    process = subprocess.Popen([BIN_DIR / "phasor", "rows", "sinusoidal", "--width=512",
                                "--count=100000", "--local"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    os.read(reader, 10)
    os.close(reader)
    _, words = process.communicate(timeout=60)
    assert (process.returncode, words) == (1, b"")


def test_long_work_is_done_in_bounded_memory(tool):
    script = ('import resource, subprocess, sys; '
              'subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); '
              'print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)')
    words = ["export", "sinusoidal", "--width=512", "--local", "--output=/dev/null",
             "--format=raw"]
    # A sanitizer keeps freed memory for a while.
    options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"

    def peak_kib(count):
        return int(subprocess.check_output([sys.executable, "-c", script,
                                            BIN_DIR / "phasor", *words, f"--count={count}"],
                                           env={**os.environ, "ASAN_OPTIONS": options}))
    # 512 MiB of rows beside 8.
    assert peak_kib(1 << 18) < peak_kib(1 << 12) + (32 << 10)


def test_no_progress_without_a_terminal(tool):
    assert tool.run("export", "sinusoidal", "--width=512", "--count=500000", "--local",
                    "--output=/dev/null", "--format=raw").stderr == b""
