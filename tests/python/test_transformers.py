"""RotaryEmbedding beside the modules of transformers, model by model.

tests/golden/hf_rope_layouts.tsv says of each model what its cosines and sines look like.
"""

import importlib
import inspect

import pytest

from conftest import NO_TRANSFORMERS, TESTS

torch = pytest.importorskip("torch")
pytest.importorskip("transformers", reason=NO_TRANSFORMERS)

from phasor_tables.torch import RotaryEmbedding  # noqa: E402

LAYOUTS = {"table_dup_halves": "cos_sin_duplicated_halves",
           "table_dup_adjacent": "cos_sin_duplicated_pairs"}
WIDTH = 16
SEVERAL_AXES = ("hunyuan_vl", "qwen2_vl", "qwen3_omni_moe")


def module_of(model, plain=True):
    """transformers' rotary module of a model and its base; None if it has none of its own.

    `plain`: by default it turns whole heads; a module of others is made from a width or not at all.
    """
    try:
        source = importlib.import_module(f"transformers.models.{model}.modeling_{model}")
    except ModuleNotFoundError:  # a model of another version
        return None
    for name, kind in vars(source).items():
        if (not name.endswith("RotaryEmbedding") or "Scal" in name or "Vision" in name
                or kind.__module__ != source.__name__
                or list(inspect.signature(kind.forward).parameters)[2:3] != ["position_ids"]):
            continue
        parameters = inspect.signature(kind).parameters
        if "dim" in parameters:  # transformers 4
            return kind(dim=WIDTH), 10000.0
        annotation = parameters["config"].annotation
        config = (getattr(source, annotation) if isinstance(annotation, str) else annotation)()
        rope = getattr(config, "rope_parameters", None) or {}
        if not plain or rope.get("rope_type") != "default":
            return None
        try:
            return kind(config), rope["rope_theta"]
        except (AttributeError, TypeError):  # a configuration of several models in one
            return None
    return None


def models():
    lines = (TESTS / "golden" / "hf_rope_layouts.tsv").read_text().splitlines()[2:]
    for line in lines:
        model, _, frequencies, forms = line.split("\t")
        forms = set(forms.split("|"))
        for form in forms & set(LAYOUTS):
            yield model, frequencies == "plain", LAYOUTS[form], "fp32_out" in forms


def test_cosines_and_sines_are_those_of_every_model():
    position_ids = torch.tensor([[0, 1, 2, 3], [40, 41, 42, 43]])
    compared = {}
    for model, plain, layout, in_float32 in models():
        found = module_of(model, plain)
        if found is None or model in SEVERAL_AXES:
            continue
        theirs, base = found
        compared[layout] = compared.get(layout, 0) + 1
        for dtype in (torch.float32, torch.bfloat16):
            x = torch.zeros(2, 4, WIDTH, dtype=dtype)
            expected = theirs(x, position_ids)
            # Some keep float32, in most versions.
            given = expected[0].dtype if in_float32 else None
            got = RotaryEmbedding(expected[0].shape[-1], base, layout=layout, dtype=given)(
                x, position_ids)
            # Angles in float32, cosines in bfloat16: half a unit in the last place, and theirs.
            allowed = 43 * 2.0**-22 if expected[0].dtype == torch.float32 else 2.0**-8
            for ours, want in zip(got, expected):
                assert (ours.shape, ours.dtype) == (want.shape, want.dtype), model
                assert (ours.double() - want.double()).abs().max() <= allowed, model
    assert compared["cos_sin_duplicated_halves"] >= 20
    assert compared["cos_sin_duplicated_pairs"] >= 1


def test_axes_are_put_together_as_qwen2_vl_does():
    theirs, _ = module_of("qwen2_vl") or pytest.skip("made from a width by transformers 4 alone")
    sections = [2, 3, 3]
    position_ids = torch.tensor([[[0, 1, 2]], [[0, 7, 30]], [[0, 9, 4]]])
    x = torch.zeros(1, 3, WIDTH)
    got = RotaryEmbedding(WIDTH, mrope_section=sections)(x, position_ids)
    for ours, several in zip(got, theirs(x, position_ids)):  # [axes, B, T, width]
        parts = several.split(sections * 2, dim=-1)  # its apply_multimodal_rotary_pos_emb
        merged = torch.cat([part[i % 3] for i, part in enumerate(parts)], dim=-1)
        assert ours.shape == merged.shape
        assert (ours - merged).abs().max() <= 30 * 2.0**-22
