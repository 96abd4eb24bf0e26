"""What README.md shows does what it says."""

import contextlib
import io
import os
import re
import subprocess

import pytest

from conftest import BUILD, ROOT, TIMEOUT

README = (ROOT / "README.md").read_text()
SHOWN_ADDRESS = "127.0.0.1:50051"


def block(language, marker):
    """The only block of that language that holds `marker`."""
    found = [b for b in re.findall(rf"```{language}\n(.*?)```", README, re.S) if marker in b]
    assert len(found) == 1
    return found[0]


TOOL_LINES = block("sh", "build/bin/phasor").splitlines()


@pytest.mark.parametrize("line", TOOL_LINES)
def test_tool(line, tmp_path):
    (tmp_path / "build").symlink_to(BUILD)
    ended = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, timeout=TIMEOUT)
    assert ended.returncode == 0, ended.stderr
    written = re.search(r"--output=(\S+)", line)
    assert (tmp_path / written[1]).stat().st_size > 0 if written else ended.stdout


@pytest.mark.parametrize("line", block("sh", "phasor describe").splitlines())
def test_configurations(line, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama", "head_dim": 128}')
    (tmp_path / "gemma3").mkdir()
    (tmp_path / "gemma3" / "config.json").write_text(
        '{"model_type": "gemma3_text", "head_dim": 256}')
    path = {**os.environ, "PATH": f"{BUILD}/bin:{os.environ['PATH']}"}
    ended = subprocess.run(line, shell=True, cwd=tmp_path, env=path, capture_output=True,
                           timeout=TIMEOUT)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout or (tmp_path / "rope.npy").stat().st_size > 4096 * 128 * 4


def test_c(tmp_path):
    source = tmp_path / "main.c"
    source.write_text(block("c", "phasor_open"))
    subprocess.run(
        ["gcc", "-std=c11", "-pedantic", "-Werror", source, "-o", tmp_path / "main",
         f"-I{ROOT}/core/c", f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", "-lphasor"],
        check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, timeout=TIMEOUT,
                             check=True).stdout
    assert printed == "0.826880 0.562379\n"  # sin(1000), cos(1000)


def test_python_package(server):
    source = block("python", "phasor_tables").replace(SHOWN_ADDRESS, server.address)
    names = {}
    exec(source, names)
    assert names["client"].counters().local_fallbacks == 0
    assert names["prompt"].shape == (1000, 512) and names["step"].shape == (3, 512)
    # sin(1000), cos(1000) and sin(31)
    assert names["row"][:2] == pytest.approx([0.826880, 0.562379], abs=1e-6)


def test_python(server, v1):
    source = block("python", "grpc.insecure_channel")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source.replace(SHOWN_ADDRESS, server.address), {})
    rows = [[float(x) for x in re.findall(r"[-+.\de]+", line)]
            for line in printed.getvalue().splitlines()]
    wanted = [[0, 1, 0, 1], [0.841471, 0.540302, 0.01, 0.99995],
              [0.909297, -0.416147, 0.019999, 0.9998]]
    assert rows == [pytest.approx(row, abs=1e-6) for row in wanted]


def test_cpp(server, tmp_path):
    source = tmp_path / "main.cc"
    source.write_text(block("cpp", "phasor::Client").replace(SHOWN_ADDRESS, server.address))
    libraries = subprocess.run(
        ["pkg-config", "--libs", "absl_status", "absl_statusor", "absl_time"],
        capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(
        ["g++", "-std=c++20", source, "-o", tmp_path / "main", f"-I{ROOT}/client/include",
         f"-I{ROOT}/core/include", f"-I{ROOT}/models/include", f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib",
         "-lphasor_client", *libraries],
        check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, timeout=TIMEOUT,
                             check=True).stdout
    # sin(1000), sin(1001), sin(1002)
    assert printed == "1000: 0.826880\n1001: 0.919991\n1002: 0.167267\n"


def test_verbs():
    """Each verb of ./dev that the documents name is one."""
    listed = re.findall(r"^  (\w+)", subprocess.run(
        [ROOT / "dev"], capture_output=True, text=True, check=True).stdout, re.M)
    for document in ("README.md", "CONTRIBUTING.md"):
        for verb in re.findall(r"\./dev ([a-z]+)", (ROOT / document).read_text()):
            assert verb in listed, f"{document} names ./dev {verb}"
