"""Learned tables from checkpoints that this project did not write, and their replacement."""

import asyncio
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import grpc
import numpy as np
import pytest

from conftest import BUILD, ROOT, TIMEOUT, Server

sys.path.insert(0, str(BUILD / "pypi"))
safetensors = pytest.importorskip("safetensors", reason="PyPI's package is not installed")
from safetensors.numpy import load_file, save_file  # noqa: E402

import phasor_tables  # noqa: E402
from phasor_tables import aio  # noqa: E402
from phasor_tables.errors import (FailedPrecondition, InvalidArgument, NotFound,  # noqa: E402
                                  OutOfRange)

DOCUMENT = (ROOT / "docs/learned-tables.md").read_text()
RNG = np.random.default_rng(7)
ROWS, WIDTH = 130, 24


def weights(rows=ROWS, width=WIDTH):
    return RNG.normal(0, 0.02, (rows, width)).astype("f4")


def replace(path, tensors):
    """As a careful writer does it: beside it, then renamed."""
    save_file(tensors, str(path) + ".next")
    os.replace(str(path) + ".next", path)


@pytest.fixture
def serve():
    servers = []

    def start(*flags):
        servers.append(Server(*flags))
        return servers[-1]

    yield start
    for server in servers:
        assert server.terminate() == 0, "".join(server.log)


def open_table(server, name, **fields):
    return phasor_tables.Client(server.address, timeout=TIMEOUT).learned_table(name, **fields)


def wait_until(condition):
    """What another process does meanwhile is waited for, by looking."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_files_of_the_formats_own_package(serve, tmp_path, dtype):
    w = weights().astype(dtype)
    path = tmp_path / "model.safetensors"
    save_file({"h.0.ln.bias": np.zeros(5, "f4"), "transformer.wpe.weight": w,
               "empty": np.zeros((0, 3), "i8")}, path, metadata={"format": "np"})
    server = serve(f"--table=gpt2={path}")
    table = open_table(server, "gpt2")
    assert table.last_position == ROWS - 1
    # NumPy rounds once, ties to even.
    assert np.array_equal(table.read(0, ROWS), w.astype("f4"))
    for element_type, to in (("float64", "f8"), ("float16", "f2")):
        rows = open_table(server, "gpt2", element_type=element_type).read(0, ROWS)
        assert np.array_equal(rows, w.astype(to)), element_type
    assert np.array_equal(table.gather([129, 0, 0, 64]), w[[129, 0, 0, 64]].astype("f4"))
    assert np.array_equal(next(table.cursor(100)), w[100].astype("f4"))


def test_bfloat16_as_torch_has_it(serve, tmp_path):
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file as save_torch

    w = torch.from_numpy(weights())
    path = tmp_path / "model.safetensors"
    save_torch({"wpe.weight": w.to(torch.bfloat16)}, str(path))
    save_torch({"wpe.weight": w}, str(tmp_path / "f.safetensors"))
    server = serve(f"--table=t={path}", f"--table=f={tmp_path}/f.safetensors")
    assert np.array_equal(open_table(server, "t").read(0, ROWS),
                          w.to(torch.bfloat16).to(torch.float32).numpy())
    bits = open_table(server, "f", element_type="bfloat16").read(0, ROWS)
    assert np.array_equal(np.array(bits, subok=False).view("<u2"),
                          w.to(torch.bfloat16).view(torch.int16).numpy().view("<u2"))


def test_content_is_named_by_a_hash_that_anyone_can_compute(serve, tmp_path):
    w = weights()
    save_file({"w": w}, tmp_path / "a.safetensors")
    table = open_table(serve(f"--table=a={tmp_path}/a.safetensors,row_offset=2"), "a")
    line = f"F32 {ROWS - 2} {WIDTH}\n".encode()
    assert table.spec.content_sha256 == hashlib.sha256(line + w[2:].tobytes()).hexdigest()
    assert np.array_equal(table.read(0, ROWS - 2), w[2:])
    text = (f"learned_table.content_sha256={table.spec.content_sha256}\n"
            f"learned_table.max_positions={ROWS - 2}\nlearned_table.name=a\n"
            f"learned_table.width={WIDTH}\n")
    assert table.canonical_text == text
    assert table.fingerprint == hashlib.sha256(text.encode()).hexdigest()[:32]


def test_a_published_models_table(serve, tmp_path):
    """The position table of RXNMapper (Schwaller et al. 2021), an ALBERT of 512 positions."""
    torch = pytest.importorskip("torch")
    model = BUILD / "pypi/rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k"
    if not model.exists():
        pytest.skip("the package rxnmapper is not installed")
    tensors = torch.load(model / "pytorch_model.bin", map_location="cpu")
    from safetensors.torch import save_file as save_torch

    save_torch({name: tensor.clone() for name, tensor in tensors.items()
                if "decoder" not in name}, str(tmp_path / "rxnmapper.safetensors"))
    (tmp_path / "config.json").write_text((model / "config.json").read_text())
    server = serve(f"--table_dir={tmp_path}")
    table = open_table(server, "rxnmapper")
    wanted = tensors["albert.embeddings.position_embeddings.weight"].numpy()
    assert wanted.shape == (512, 128)
    assert (table.last_position, table.row_width) == (511, 128)
    assert np.array_equal(table.read(0, 512), wanted)
    with pytest.raises(OutOfRange) as error:
        table.read(512, 1)
    assert error.value.field == "start_position"


def test_a_directory_with_a_configuration(serve, tmp_path):
    w = weights(52)
    save_file({"model.decoder.embed_positions.weight": w}, tmp_path / "opt.safetensors")
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "opt", "max_position_embeddings": 50, "hidden_size": WIDTH}))
    table = open_table(serve(f"--table_dir={tmp_path}"), "opt")
    assert np.array_equal(table.read(0, 50), w[2:])


def test_errors_of_a_table_that_is_not_there(serve, tmp_path):
    save_file({"w": np.full((3, 4), 1e30, "f4")}, tmp_path / "a.safetensors")
    server = serve(f"--table=a={tmp_path}/a.safetensors")
    with pytest.raises(NotFound) as error:
        open_table(server, "b")
    assert error.value.field == "spec.learned_table.name"
    with pytest.raises(InvalidArgument) as error:
        open_table(server, "a b")
    assert error.value.field == "spec.learned_table.name"
    with pytest.raises(OutOfRange) as error:
        open_table(server, "a", element_type="float16")
    assert error.value.field == "spec.element_type"
    with pytest.raises(NotFound):
        phasor_tables.local.open(phasor_tables.LearnedTable("a"))
    with pytest.raises(NotFound):
        phasor_tables.local.open(open_table(server, "a").spec)


def test_a_fallback_does_not_make_up_rows(serve, tmp_path):
    save_file({"w": weights()}, tmp_path / "a.safetensors")
    server = Server(f"--table=a={tmp_path}/a.safetensors")
    client = phasor_tables.Client(server.address, fallback="local", timeout=1)
    table = client.learned_table("a")
    assert server.terminate() == 0
    with pytest.raises(phasor_tables.errors.Unavailable):
        table.gather([5])
    assert client.counters().local_fallbacks == 0


def test_hangup_loads_a_new_file(serve, tmp_path):
    path = tmp_path / "a.safetensors"
    first, second = weights(), weights(200)
    replace(path, {"w": first})
    server = serve(f"--table=a={path}", "--table_poll=0")
    client = phasor_tables.Client(server.address, block_cache_bytes=0, timeout=TIMEOUT)
    held = client.learned_table("a")
    assert np.array_equal(held.read(0, 2), first[:2])

    path.with_suffix(".next").write_bytes(path.read_bytes()[:-1])
    os.replace(path.with_suffix(".next"), path)
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: any("stay as they are" in line for line in server.log))
    assert any(str(path) in line and "bytes of data" in line for line in server.log)
    assert np.array_equal(held.read(2, 2), first[2:4])

    replace(path, {"w": second})
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: client.learned_table("a").last_position == 199)
    assert np.array_equal(client.learned_table("a").read(0, 200), second)
    with pytest.raises(FailedPrecondition) as error:
        held.read(4, 2)
    assert error.value.field in ("spec.learned_table.content_sha256", "expected_fingerprint")


def test_polling_loads_a_new_file(serve, tmp_path):
    path = tmp_path / "a.safetensors"
    replace(path, {"w": weights()})
    server = serve(f"--table_dir={tmp_path}", "--table_poll=20ms")
    client = phasor_tables.Client(server.address, timeout=TIMEOUT)
    second = weights()
    before = client.learned_table("a").fingerprint
    replace(path, {"w": second})
    wait_until(lambda: client.learned_table("a").fingerprint != before)
    assert np.array_equal(client.learned_table("a").read(0, ROWS), second)


def test_replicas_in_different_states_never_mix(serve, tmp_path):
    old, new = weights(), weights()
    save_file({"w": old}, tmp_path / "old.safetensors")
    save_file({"w": new}, tmp_path / "new.safetensors")
    replicas = [serve(f"--table=a={tmp_path}/{name}.safetensors") for name in ("old", "new")]
    client = phasor_tables.Client(",".join(r.address for r in replicas), block_cache_bytes=0,
                                  timeout=TIMEOUT)
    table = client.learned_table("a")
    wanted = {hashlib.sha256(f"F32 {ROWS} {WIDTH}\n".encode() + w.tobytes()).hexdigest(): w
              for w in (old, new)}[table.spec.content_sha256]
    refused = 0
    for position in range(ROWS - 1):
        try:
            assert np.array_equal(table.read(position, 2), wanted[position:position + 2])
        except FailedPrecondition:
            refused += 1
    assert 0 < refused < ROWS - 1  # calls go to both


def test_signals_end_a_server_with_tables_as_any(tmp_path):
    save_file({"w": weights()}, tmp_path / "a.safetensors")
    server = Server(f"--table=a={tmp_path}/a.safetensors")
    server.process.send_signal(signal.SIGHUP)
    assert server.terminate() == 0


@pytest.mark.parametrize("flags, words", [
    (["--table=a"], ["--table=a", "NAME=PATH"]),
    (["--table=a=/nonexistent"], ["table \"a\"", "/nonexistent"]),
    (["--table_dir=/nonexistent"], ["/nonexistent"]),
])
def test_a_server_without_its_table_does_not_start(flags, words):
    with pytest.raises(RuntimeError) as error:
        Server(*flags)
    assert all(word in str(error.value) for word in words)


def test_what_training_saved_is_read_by_the_formats_own_package_and_served(serve, tmp_path):
    """The training of docs/learned-tables.md."""
    shown = re.search(r"```cpp\n(.*?)```", DOCUMENT, re.S)[1]
    source = tmp_path / "main.cc"
    source.write_text("""#include "phasor/phasor.h"
int main() {
  const float rate = 0.5F;
  const std::int64_t offset = 3;
  std::vector<float> x_memory(2 * 64), ones(2 * 64, 1.0F);
  const absl::Span<float> x = absl::MakeSpan(x_memory), grad_output = absl::MakeSpan(ones);
""" + shown + "}\n")
    libraries = subprocess.run(
        ["pkg-config", "--libs", "absl_status", "absl_statusor", "absl_time"],
        capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(
        ["g++", "-std=c++20", source, "-o", tmp_path / "main", f"-I{ROOT}/client/include",
         f"-I{ROOT}/core/include", f"-I{ROOT}/models/include", f"-L{BUILD}/lib",
         f"-Wl,-rpath,{BUILD}/lib", "-lphasor_client", *libraries],
        check=True)
    subprocess.run([tmp_path / "main"], cwd=tmp_path, check=True, timeout=TIMEOUT)
    wanted = np.array(phasor_tables.local.learned_init(512, 64, seed=7).read(0, 512), subok=False)
    wanted[3:5] -= np.float32(0.5)
    path = tmp_path / "trained.safetensors"
    read = load_file(path)
    assert list(read) == ["wpe.weight"]
    assert np.array_equal(read["wpe.weight"], wanted)
    assert np.array_equal(open_table(serve(f"--table=a={path}"), "a").read(0, 512), wanted)


def commands(text, marker):
    """The lines of the only block of commands that holds `marker`."""
    found = [b for b in re.findall(r"```sh\n(.*?)```", text, re.S) if marker in b]
    assert len(found) == 1
    return [shlex.split(re.sub(r"\s+#.*", "", line)) for line in found[0].splitlines()]


def test_readme(serve, tmp_path, monkeypatch):
    w = weights()
    save_file({"transformer.wpe.weight": w, "b": w}, tmp_path / "model.safetensors")
    monkeypatch.chdir(tmp_path)
    server_line, tool_line = commands((ROOT / "README.md").read_text(), "phasord --table=")
    server = serve(*server_line[1:])
    printed = subprocess.run(
        [BUILD / "bin/phasor", *tool_line[1:]], env={**os.environ, "PHASOR_SERVER": server.address},
        capture_output=True, text=True, check=True, timeout=TIMEOUT).stdout
    assert np.array_equal(np.array([line.split(",") for line in printed.split()], "f4"), w[:2])


def test_commands_of_the_document(serve, tmp_path):
    w = weights()
    save_file({"wpe.weight": w}, tmp_path / "gpt2.safetensors")
    save_file({f"model.{part}.embed_positions.weight": w for part in ("decoder", "encoder")},
              tmp_path / "opt.safetensors")
    lines = commands(DOCUMENT, "--table=")
    assert len(lines) == 3
    for words in lines[:2]:
        serve(*(word.replace("/models", str(tmp_path)) for word in words[1:]))
    (tmp_path / "opt.safetensors").unlink()
    server = serve(*(word.replace("/models", str(tmp_path)) for word in lines[2][1:]))
    assert np.array_equal(open_table(server, "gpt2").read(0, ROWS), w)


def test_unknown_grpc_fields_of_a_learned_table_are_refused(serve, tmp_path, v1):
    save_file({"w": weights()}, tmp_path / "a.safetensors")
    server = serve(f"--table=a={tmp_path}/a.safetensors")
    spec = v1.TableSpec.FromString(b"\x22\x06\x0a\x01a\xfa\x06\x00")  # learned_table, field 111
    with grpc.insecure_channel(server.address, [("grpc.enable_http_proxy", 0)]) as channel:
        with pytest.raises(grpc.RpcError) as error:
            v1.PositionTableServiceStub(channel).GetTable(v1.GetTableRequest(spec=spec),
                                                          timeout=TIMEOUT)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "111" in error.value.details()


def test_asyncio(serve, tmp_path):
    w = weights()
    save_file({"w": w}, tmp_path / "a.safetensors")
    server = serve(f"--table=a={tmp_path}/a.safetensors")

    async def read():
        async with aio.Client(server.address, timeout=TIMEOUT) as client:
            return await (await client.learned_table("a")).read(5, 7)

    assert np.array_equal(asyncio.run(read()), w[5:12])
