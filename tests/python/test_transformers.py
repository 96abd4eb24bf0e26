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


def module_of(model):
    """transformers' rotary module of a model, unless it has none that is made from a width."""
    try:
        source = importlib.import_module(f"transformers.models.{model}.modeling_{model}")
    except ModuleNotFoundError:  # a model of a later version
        return None
    for name, kind in vars(source).items():
        if (name.endswith("RotaryEmbedding") and "Scal" not in name and "Vision" not in name
                and kind.__module__ == source.__name__
                and "dim" in inspect.signature(kind).parameters
                and list(inspect.signature(kind.forward).parameters)[2:3] == ["position_ids"]):
            return kind(dim=WIDTH)
    return None


def models():
    lines = (TESTS / "golden" / "hf_rope_layouts.tsv").read_text().splitlines()[2:]
    for line in lines:
        model, _, _, forms = line.split("\t")
        forms = set(forms.split("|")) & set(LAYOUTS)
        if forms:
            yield model, LAYOUTS[forms.pop()]


def test_cosines_and_sines_are_those_of_every_model():
    position_ids = torch.tensor([[0, 1, 2, 3], [40, 41, 42, 43]])
    compared = {}
    for model, layout in models():
        theirs = module_of(model)
        if theirs is None or model == "qwen2_vl":  # of which below
            continue
        compared[layout] = compared.get(layout, 0) + 1
        for dtype in (torch.float32, torch.bfloat16):
            x = torch.zeros(2, 4, WIDTH, dtype=dtype)
            got = RotaryEmbedding(WIDTH, layout=layout)(x, position_ids)
            # Angles in float32, cosines in bfloat16: half a unit in the last place, and theirs.
            allowed = 43 * 2.0**-22 if dtype == torch.float32 else 2.0**-8
            for ours, want in zip(got, theirs(x, position_ids)):
                assert (ours.shape, ours.dtype) == (want.shape, want.dtype), model
                assert (ours.double() - want.double()).abs().max() <= allowed, model
    assert compared["cos_sin_duplicated_halves"] >= 20
    assert compared["cos_sin_duplicated_pairs"] >= 1


def test_axes_are_put_together_as_qwen2_vl_does():
    theirs = module_of("qwen2_vl")
    sections = [2, 3, 3]
    position_ids = torch.tensor([[[0, 1, 2]], [[0, 7, 30]], [[0, 9, 4]]])
    x = torch.zeros(1, 3, WIDTH)
    got = RotaryEmbedding(WIDTH, mrope_section=sections)(x, position_ids)
    for ours, several in zip(got, theirs(x, position_ids)):  # [axes, B, T, width]
        parts = several.split(sections * 2, dim=-1)  # its apply_multimodal_rotary_pos_emb
        merged = torch.cat([part[i % 3] for i, part in enumerate(parts)], dim=-1)
        assert ours.shape == merged.shape
        assert (ours - merged).abs().max() <= 30 * 2.0**-22
