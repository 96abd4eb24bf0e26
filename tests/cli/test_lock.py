"""`phasor lock` and `phasor verify`."""

import hashlib
import json
from pathlib import Path

import pytest

CERTIFIED = (Path(__file__).parents[1] / "golden" / "certified.tsv").read_text().splitlines()
LLAMA3 = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
          "rope_theta": 500000.0}
MODELS = {
    "llama": LLAMA3,
    "llama31": {**LLAMA3, "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192}, "max_position_embeddings": 131072},
    "gpt_oss": {"model_type": "gpt_oss", "head_dim": 64, "rope_theta": 150000, "rope_scaling": {
        "rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
        "truncate": False, "original_max_position_embeddings": 4096},
        "max_position_embeddings": 131072},
    "phi3": {"model_type": "phi3", "hidden_size": 32, "num_attention_heads": 4, "rope_scaling": {
        "type": "longrope", "short_factor": [1.0, 1.1, 1.2, 1.3],
        "long_factor": [1.0, 2.0, 4.0, 8.0]}, "max_position_embeddings": 131072,
        "original_max_position_embeddings": 4096},
    "m2m_100": {"model_type": "m2m_100", "d_model": 1024},
    "bloom": {"model_type": "bloom", "n_head": 12, "hidden_size": 768},
    "t5": {"model_type": "t5", "num_heads": 8, "d_model": 512},
    "whisper": {"model_type": "whisper", "d_model": 384, "max_source_positions": 1500,
                "max_target_positions": 448},
    "smollm3": {"model_type": "smollm3", "hidden_size": 2048, "num_attention_heads": 16,
                "num_hidden_layers": 8},
}


@pytest.fixture
def lock(tool):
    """Writes a model's configuration and lock; returns the lock."""
    def write(config, *flags):
        (tool.directory / "config.json").write_text(json.dumps(config))
        text = tool.out("lock", "config.json", *flags)
        (tool.directory / "positions.lock").write_bytes(text)
        return json.loads(text)
    return write


def change(tool, edit):
    path = tool.directory / "positions.lock"
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


def test_the_digest_is_the_certified_one(lock):
    rotary = lock(LLAMA3)["tables"]["rotary"]
    assert rotary["rows"]["count"] == 131072
    line, = [line for line in CERTIFIED if rotary["rows"]["sha256"] in line]
    assert {"500000", "128", "131072", "FLOAT32", "COS_SIN_HALVES"} <= set(line.split("\t"))


def test_the_digest_is_that_of_the_rows(tool, lock):
    locked = lock(MODELS["llama31"], "--count=1000", "--type=bfloat16")["tables"]["rotary"]
    rows = tool.out("rows", "--config=config.json", "--type=bfloat16", "--count=1000", "--local",
                    "--format=raw")
    assert locked["rows"] == {"start": 0, "count": 1000, "sha256": hashlib.sha256(rows).hexdigest()}
    table = json.loads(tool.out("table", "--config=config.json", "--type=bfloat16", "--local"))
    assert (locked["spec"], locked["fingerprint"]) == (table["spec"], table["fingerprint"])


@pytest.mark.parametrize("model", MODELS)
def test_what_was_locked_is_verified(tool, lock, model):
    names = lock(MODELS[model], "--count=50")["tables"]
    report = tool.out("verify", "--config=config.json").decode().splitlines()
    assert [line.split(":")[0] for line in report] == list(names)
    assert tool.out("verify").decode().splitlines() == report
    assert tool.out("lock", "config.json", "--count=50") == (
        tool.directory / "positions.lock").read_bytes()


def test_a_server_is_asked_with_server_alone(tool, lock, server):
    lock(MODELS["gpt_oss"], "--count=5000")
    assert tool.out("verify", f"--server={server}") == b"rotary: ok, 5000 rows\n"
    nowhere = {"PHASOR_SERVER": "127.0.0.1:9"}
    assert tool.out("verify", env=nowhere) == b"rotary: ok, 5000 rows\n"
    tool.refused("verify", "--server=127.0.0.1:9", "--timeout=200ms", status=1,
                 names=["no answer from 127.0.0.1:9"])
    change(tool, lambda lock: lock["tables"]["rotary"]["rows"].update(sha256="0" * 64))
    done = tool.run("verify", f"--server={server}")
    assert done.returncode == 2
    assert b"tables.rotary.rows.sha256: locked 0000" in done.stdout
    assert b"the server has" in done.stderr


@pytest.mark.parametrize("edit,field", [
    (lambda t: t["rows"].update(sha256="12"), "tables.rotary.rows.sha256: locked 12, computed"),
    (lambda t: t.update(fingerprint="34"), "tables.rotary.fingerprint: locked 34, computed"),
    (lambda t: t["rows"].update(count=49), "tables.rotary.rows.sha256: locked"),
    (lambda t: t["spec"]["rotary"].update(base=10001.0), "tables.rotary.fingerprint: locked"),
])
def test_what_differs_is_named(tool, lock, edit, field):
    lock(LLAMA3, "--count=50")
    change(tool, lambda lock: edit(lock["tables"]["rotary"]))
    done = tool.run("verify")
    assert done.returncode == 2
    assert field in done.stdout.decode() and field in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_a_configuration_that_changed_is_named(tool, lock):
    lock(MODELS["llama31"], "--count=50", "--layout=cos_sin_duplicated_halves")
    config = json.loads((tool.directory / "config.json").read_text())
    config["rope_scaling"]["factor"] = 32.0
    (tool.directory / "config.json").write_text(json.dumps(config))
    done = tool.run("verify", "--config=config.json")
    assert done.returncode == 2
    lines = done.stdout.decode().splitlines()
    assert ("tables.rotary.spec.rotary.llama3.factor: locked 8.0, the configuration means 32.0"
            in lines)
    assert lines[-1] == "rotary: ok, 50 rows"  # what was locked is still computed
    assert "and 1 more" in done.stderr.decode()
    # A table that is no longer there, and one that is new.
    (tool.directory / "config.json").write_text(json.dumps(MODELS["t5"]))
    text = tool.run("verify", "--config=config.json").stdout.decode()
    assert "tables.rotary.use: locked \"TABLE_USE_ROTATE_HALVES\", the configuration means nothing" \
        in text
    assert "tables.encoder.use: locked nothing" in text


def test_the_configuration_is_read_as_it_was(tool, lock):
    # YaRN in three versions is three tables.
    yarn = {**MODELS["gpt_oss"], "max_position_embeddings": 65536}
    prints = set()
    for version in ("4.46", "5.0", "5.16"):
        prints.add(lock(yarn, f"--transformers={version}", "--count=9")["tables"]["rotary"]
                   ["fingerprint"])
        tool.out("verify", "--config=config.json")
    assert len(prints) == 3
    lock(MODELS["phi3"], "--sequence_length=4097", "--count=9")
    tool.out("verify", "--config=config.json")


def test_what_cannot_be_read_is_told(tool, lock):
    lock(LLAMA3, "--count=5")
    change(tool, lambda lock: lock["tables"]["rotary"]["spec"]["rotary"].update(width=7))
    tool.refused("verify", names=["positions.lock: tables.rotary: spec.rotary.width"])
    tool.refused("verify", "absent.lock", status=1, names=["absent.lock"])
    tool.refused("verify", "/dev/zero", names=["more than the 4194304 bytes"])
    tool.refused("lock", "absent.json", status=1, names=["absent.json"])
    tool.refused("lock", names=["--config: config_json: required"])
    tool.refused("lock", "config.json", "--count=0", names=["--count=0"])
    tool.refused("lock", "config.json", "--server=x", names=["--server"])
