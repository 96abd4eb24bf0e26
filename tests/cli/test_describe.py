"""`phasor describe`, and --config instead of a scheme."""

import json

import pytest

GEMMA3 = {
    "model_type": "gemma3_text", "head_dim": 256, "num_hidden_layers": 12,
    "sliding_window_pattern": 6, "rope_theta": 1e6, "rope_local_base_freq": 1e4,
    "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "max_position_embeddings": 131072,
}


@pytest.fixture
def gemma3(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GEMMA3))
    return path


def test_every_table_of_the_model(tool, gemma3):
    model = json.loads(tool.out("describe", str(gemma3)))
    assert model["model_type"] == "gemma3_text"
    assert [table["name"] for table in model["tables"]] == ["full_attention", "sliding_attention"]
    full, sliding = model["tables"]
    assert full["spec"]["rotary"]["linear"] == {"factor": 8.0}
    assert full["layers"] == [5, 11]
    assert "linear" not in sliding["spec"]["rotary"]
    assert "rope_scaling.factor" in model["keys_used"]


def test_a_configuration_stands_for_the_schemes_flags(tool, gemma3):
    flags = ["rotary", "--width=256", "--base=1e6", "--scaling=linear", "--factor=8"]
    config = [f"--config={gemma3}", "--table=full_attention"]
    where = ["--start=1000", "--count=3", "--local", "--format=raw"]
    assert tool.out("rows", *config, *where) == tool.out("rows", *flags, *where)
    for verb in ("table", "freqs"):
        assert tool.out(verb, *config, "--local") == tool.out(verb, *flags, "--local")
    bf16 = ["--type=bfloat16", "--layout=cos_sin_duplicated_halves"]
    assert tool.out("rows", *config, *bf16, *where) == tool.out("rows", *flags, *bf16, *where)


def test_it_may_come_from_stdin(tool, gemma3):
    assert tool.out("describe", "-", input=gemma3.read_bytes()) == tool.out("describe", str(gemma3))


@pytest.mark.parametrize("words,said", [
    (["--config={}"], "full_attention, sliding_attention"),
    (["--config={}", "--table=global"], "\"global\" is no table of this model"),
    (["--config={}", "sinusoidal"], "give one of both"),
    (["--config={}", "--width=8"], "--width: has no meaning"),
    (["--config={}", "--transformers=3"], "5.16 (default), 5.0, 4.46"),
    (["sinusoidal", "--width=4", "--table=rotary"], "--table: has no meaning"),
])
def test_what_cannot_be_meant_is_refused(tool, gemma3, words, said):
    words = [word.format(gemma3) for word in words]
    result = tool.run("rows", *words, "--count=1", "--local")
    assert (result.returncode, result.stdout) == (2, b"")
    assert said in result.stderr.decode()


def test_a_wrong_key_is_named(tool, tmp_path):
    path = tmp_path / "config.json"
    for config, said in [
        ({**GEMMA3, "rope_scaling": {"rope_type": "linear"}}, "rope_scaling.factor: is missing"),
        ({"model_type": "mamba"}, "\"mamba\" is not known"),
        ([], "is no JSON object"),
    ]:
        path.write_text(json.dumps(config))
        result = tool.run("describe", str(path))
        assert (result.returncode, result.stdout) == (2, b"")
        assert said in result.stderr.decode()
    result = tool.run("describe", str(tmp_path / "absent.json"))
    assert result.returncode == 1
    result = tool.run("describe", "/dev/zero")
    assert result.returncode == 2
    assert "more than the 1048576 bytes" in result.stderr.decode()
