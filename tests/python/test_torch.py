"""phasor_tables.torch. Also run on mutants of it: test_torch_mutants.py."""

import copy
import pickle

import numpy as np
import pytest

import exact_rotary
import exact_tables
from conftest import values
from exact_tables import assert_same_bits
from phasor_tables import Llama3Scaling, Rotary, YarnScaling, errors, local, sinusoidal_pe

torch = pytest.importorskip("torch")

from phasor_tables.torch import (LearnedPE, RotaryEmbedding, SinusoidalPE, gather, read,  # noqa: E402
                                 to_tensor)

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


def name(dtype):
    return str(dtype).rpartition(".")[2]


# SinusoidalPE


def test_sinusoidal_has_nothing_to_train_or_to_save():
    module = SinusoidalPE(8)
    module(torch.zeros(3, 8))
    assert len(module.state_dict()) == 0
    assert list(module.parameters()) == [] and list(module.buffers()) == []
    module.load_state_dict({})


@pytest.mark.parametrize("dtype", DTYPES)
def test_sinusoidal_adds_exact_rows_of_the_inputs_type(dtype):
    added = SinusoidalPE(8, 500.0)(torch.zeros(4, 8, dtype=dtype), offset=70_000)
    assert added.dtype == dtype
    assert_same_bits(added.double().numpy(), exact_tables.sinusoidal(
        range(70_000, 70_004), 8, name(dtype), base=500.0))


def test_sinusoidal_adds_and_does_not_replace():
    x = torch.randn(2, 5, 8)
    assert torch.equal(SinusoidalPE(8)(x, 3), x + torch.from_numpy(sinusoidal_pe(5, 8, offset=3)))


def test_sinusoidal_honours_an_offset_for_each_sequence():
    module = SinusoidalPE(8)
    offsets = [5, 0, 123_456]
    expected = np.stack([sinusoidal_pe(4, 8, offset=offset) for offset in offsets])
    for given in (offsets, tuple(offsets), np.array(offsets), torch.tensor(offsets)):
        assert np.array_equal(module(torch.zeros(3, 4, 8), given).numpy(), expected)
    assert np.array_equal(module(torch.zeros(1, 4, 8), [9]).numpy()[0], sinusoidal_pe(4, 8, offset=9))


def test_sinusoidal_while_decoding():
    module = SinusoidalPE(8)
    whole = module(torch.zeros(1, 40, 8))
    steps = [module(torch.zeros(1, 1, 8), offset=p) for p in range(40)]
    assert torch.equal(torch.cat(steps, 1), whole)


def test_sinusoidal_passes_the_gradient():
    x = torch.randn(2, 3, 8, requires_grad=True)
    weights = torch.randn(2, 3, 8)
    (SinusoidalPE(8)(x, [4, 2]) * weights).sum().backward()
    assert torch.equal(x.grad, weights)


@pytest.mark.parametrize("arguments, field", [
    ((3,), "spec.sinusoidal.width"), ((4, 1.0), "spec.sinusoidal.base"),
    ((4, 0.5), "spec.sinusoidal.base")])
def test_sinusoidal_refuses_odd_widths_and_small_bases(arguments, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        SinusoidalPE(*arguments)
    assert raised.value.field == field


@pytest.mark.parametrize("module", [SinusoidalPE(8), LearnedPE(16, 8)])
@pytest.mark.parametrize("shape, offset, field", [
    ((3, 6), 0, "x"), ((8,), 0, "x"), ((2, 2, 3, 8), 0, "x"), ((2, 3, 8), [1], "offset"),
    ((3, 8), [1], "offset"), ((2, 3, 8), 0.5, "offset"), ((2, 3, 8), [0, 2**63], "offset[1]")])
def test_inputs_that_do_not_fit(module, shape, offset, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        module(torch.zeros(shape), offset)
    assert raised.value.field == field


def test_sinusoidal_on_the_meta_device():
    x = torch.zeros(2, 3, 8, device="meta")
    assert SinusoidalPE(8)(x).is_meta


def test_modules_are_copied_and_pickled():
    x = torch.zeros(2, 8)
    for module in (SinusoidalPE(8), LearnedPE(16, 8, seed=3)):
        expected = module(x, 4)
        assert torch.equal(copy.deepcopy(module)(x, 4), expected)
        assert torch.equal(pickle.loads(pickle.dumps(module))(x, 4), expected)


def test_sinusoidal_reads_from_a_server(client):
    module = SinusoidalPE(8, client=client)
    expected = SinusoidalPE(8)(torch.zeros(3, 8), 5)
    assert torch.equal(module(torch.zeros(3, 8), 5), expected)
    assert torch.equal(copy.deepcopy(module)(torch.zeros(3, 8), 5), expected)
    assert client.counters().rpcs > 0


# LearnedPE


def test_learned_starts_with_the_documented_draws():
    weight = LearnedPE(9, 3, seed=-7).weight
    assert isinstance(weight, torch.nn.Parameter) and weight.dtype == torch.float32
    assert_same_bits(weight.detach().double().numpy(), exact_tables.learned_init(9, 3, seed=-7))


def test_learned_std_is_honoured():
    for std in (0.02, 1.0):
        weight = LearnedPE(1000, 256, std=std).weight.detach()
        assert abs(weight.mean().item()) < std / 100
        assert abs(weight.std().item() / std - 1) < 0.01
    assert_same_bits(LearnedPE(4, 4, std=1.0).weight.detach().double().numpy(),
                     exact_tables.learned_init(4, 4, stddev=1.0))


def test_learned_seeds_differ():
    assert not torch.equal(LearnedPE(4, 4, seed=1).weight, LearnedPE(4, 4, seed=2).weight)
    module = LearnedPE(4, 4, seed=1)
    with torch.no_grad():
        module.weight.zero_()
    module.reset_parameters()
    assert torch.equal(module.weight, LearnedPE(4, 4, seed=1).weight)


def test_learned_positions_are_rows_of_the_weight():
    module = LearnedPE(10, 4)
    assert torch.equal(module.positions(3), module.weight[:3])
    assert torch.equal(module.positions(3, 5), module.weight[5:8])
    assert torch.equal(module.positions(3, offset=[5, 0]),
                       torch.stack([module.weight[5:8], module.weight[:3]]))
    assert module.positions(0, 10).shape == (0, 4)


def test_learned_adds_and_honours_offsets():
    module = LearnedPE(10, 4)
    x = torch.randn(2, 3, 4)
    assert torch.equal(module(x), x + module.weight[:3])
    assert torch.equal(module(x, 7), x + module.weight[7:10])
    assert torch.equal(module(x, [7, 1]), x + torch.stack([module.weight[7:10],
                                                           module.weight[1:4]]))


def test_learned_gradient_is_in_the_rows_used_alone():
    module = LearnedPE(10, 4)
    x = torch.zeros(2, 3, 4, requires_grad=True)
    module(x, [5, 6]).sum().backward()
    used = torch.zeros(10, 4)
    used[5], used[6:8], used[8] = 1, 2, 1
    assert torch.equal(module.weight.grad, used)
    assert torch.equal(x.grad, torch.ones(2, 3, 4))


def test_learned_trains():
    module = LearnedPE(4, 2)
    before = module.weight.detach().clone()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    module(torch.zeros(2, 2), 1).sum().backward()
    optimizer.step()
    assert torch.equal(module.weight[[0, 3]], before[[0, 3]])
    assert torch.allclose(module.weight[1:3], before[1:3] - 0.1)
    assert list(module.state_dict()) == ["weight"]


@pytest.mark.parametrize("T, offset", [(1, 10), (3, 8), (11, 0), (1, -1), (1, 2**62), (1, [0, 10])])
def test_learned_rows_past_the_end_are_refused(T, offset):
    module = LearnedPE(10, 4)
    with pytest.raises(errors.OutOfRange) as raised:
        module.positions(T, offset)
    assert raised.value.field == "offset" and isinstance(raised.value, IndexError)
    if isinstance(offset, int):
        with pytest.raises(errors.OutOfRange):
            module(torch.zeros(T, 4), offset)


@pytest.mark.parametrize("arguments, field", [
    (dict(max_len=0, d=4), "spec.learned_init.max_positions"),
    (dict(max_len=4, d=0), "spec.learned_init.width"),
    (dict(max_len=4, d=4, std=0.0), "spec.learned_init.stddev"),
    (dict(max_len=4, d=4, std=-1.0), "spec.learned_init.stddev"),
    (dict(max_len=4, d=4, dtype=torch.int32), "dtype")])
def test_learned_refuses(arguments, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        LearnedPE(**arguments)
    assert raised.value.field == field


def test_learned_in_other_types_and_on_the_meta_device():
    module = LearnedPE(5, 3, dtype=torch.bfloat16)
    assert_same_bits(module.weight.detach().double().numpy(),
                     exact_tables.learned_init(5, 3, "bfloat16"))
    assert LearnedPE(5, 3, device="meta").weight.is_meta
    assert LearnedPE(5, 3).to(torch.bfloat16)(torch.zeros(2, 3).bfloat16()).dtype == torch.bfloat16


# RotaryEmbedding

NEAR, FAR = torch.tensor([[0, 1, 2], [7, 8, 9]]), torch.tensor([[5, 5, -1], [10**6, 2**53, 70]])
YARN = dict(base=150000.0, scaling=YarnScaling(32, 4096, truncate=False))


def expected_rotary(position_ids, width, dtype=torch.float32, **fields):
    """cos and sin [B, T, ...] by the formula."""
    fields.setdefault("layout", "cos_sin_duplicated_halves")
    rows = exact_rotary.rows(Rotary(width, element_type=name(dtype), **fields),
                             position_ids.flatten().tolist())
    return np.split(rows.reshape(*position_ids.shape, -1), 2, axis=-1)


def assert_rotary(cos_sin, expected):
    for got, want in zip(cos_sin, expected):
        assert_same_bits(got.double().numpy(), want)


def test_rotary_has_nothing_to_train_to_save_or_to_round():
    module = RotaryEmbedding(8)
    module(torch.zeros(1, 3, 8), NEAR)
    assert len(module.state_dict()) == 0
    assert list(module.parameters()) == [] and list(module.buffers()) == []
    module.load_state_dict({})


@pytest.mark.parametrize("position_ids", [NEAR, FAR], ids=["near", "far"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rotary_is_exact_in_the_inputs_type(dtype, position_ids):
    x = torch.zeros(2, 3, 8, dtype=dtype)
    cos, sin = RotaryEmbedding(8, **YARN)(x, position_ids)
    assert cos.dtype == sin.dtype == dtype and cos.shape == sin.shape == (2, 3, 8)
    assert cos.is_contiguous() and sin.is_contiguous()
    assert not cos.requires_grad and not sin.requires_grad
    assert_rotary((cos, sin), expected_rotary(position_ids, 8, dtype, **YARN))


def test_rotary_keeps_its_exactness_in_a_module_that_is_cast():
    holder = torch.nn.ModuleDict({"rotary": RotaryEmbedding(8, 500000.0), "l": torch.nn.Linear(2, 2)})
    holder.to(torch.bfloat16)
    assert_rotary(holder["rotary"](torch.zeros(1), FAR), expected_rotary(FAR, 8, base=500000.0))
    holder.half()
    x = torch.zeros(1, dtype=torch.float16)
    assert_rotary(holder["rotary"](x, FAR), expected_rotary(FAR, 8, torch.float16, base=500000.0))


@pytest.mark.parametrize("layout, width", [("cos_sin_duplicated_halves", 8),
                                           ("cos_sin_duplicated_pairs", 8), ("cos_sin_halves", 4)])
def test_rotary_layouts(layout, width):
    cos, sin = RotaryEmbedding(8, layout=layout)(torch.zeros(1), NEAR)
    assert cos.shape == (2, 3, width)
    assert_rotary((cos, sin), expected_rotary(NEAR, 8, layout=layout))


def test_rotary_gives_the_type_asked_for():
    x = torch.zeros(1, dtype=torch.bfloat16)
    cos, sin = RotaryEmbedding(8, dtype=torch.float32)(x, NEAR)
    assert cos.dtype == torch.float32
    assert_rotary((cos, sin), expected_rotary(NEAR, 8))


def test_rotary_scaling_and_attention_factor():
    llama3 = dict(base=500000.0, scaling=Llama3Scaling(8, 1, 4, 8192))
    assert_rotary(RotaryEmbedding(64, **llama3)(torch.zeros(1), FAR),
                  expected_rotary(FAR, 64, **llama3))
    assert RotaryEmbedding(8, **YARN).attention_scaling == 1.3465735902799727  # 1 + ln(32)/10


@pytest.mark.parametrize("position_ids", [NEAR, FAR], ids=["near", "far"])
def test_rotary_takes_a_position_an_axis(position_ids):
    module = RotaryEmbedding(8, mrope_section=[2, 1, 1])
    several = torch.stack([position_ids, position_ids - 3, position_ids * 2 % 1000])
    pairs = several[[0, 0, 1, 2]].movedim(0, -1).reshape(-1, 4).tolist()
    rows = exact_rotary.rows(Rotary(8, layout="cos_sin_duplicated_halves"), pairs)
    assert_rotary(module(torch.zeros(1), several), np.split(rows.reshape(2, 3, 16), 2, axis=-1))
    assert_rotary(module(torch.zeros(1), position_ids), expected_rotary(position_ids, 8))


def test_rotary_on_the_meta_device():
    module = RotaryEmbedding(8, mrope_section=[2, 1, 1]).to("meta")
    for x, ids in ((torch.zeros(2, 3, 8, device="meta", dtype=torch.float16), NEAR),
                   (torch.zeros(2, 3, 8, dtype=torch.float16), NEAR.to("meta"))):
        for position_ids in (ids, ids.expand(3, 2, 3)):
            cos, sin = module(x, position_ids)
            assert cos.is_meta and cos.shape == sin.shape == (2, 3, 8)
            assert cos.dtype == torch.float16
    # Nothing was lost on the way there.
    assert_rotary(module(torch.zeros(1), FAR), expected_rotary(FAR, 8))


@pytest.mark.skipif(not hasattr(torch, "set_default_device"), reason="needs torch 2")
def test_modules_made_and_used_where_the_default_device_is_another():
    x = torch.zeros(2, 3, 8)
    with torch.device("meta"):
        rotary, fixed = RotaryEmbedding(8), SinusoidalPE(8)
        assert_rotary(rotary(x, FAR), expected_rotary(FAR, 8))
        added = fixed(x, 5)
    assert np.array_equal(added[0].numpy(), sinusoidal_pe(3, 8, offset=5))


def test_rotary_of_no_positions():
    cos, sin = RotaryEmbedding(8)(torch.zeros(1), torch.zeros(2, 0, dtype=torch.int64))
    assert cos.shape == sin.shape == (2, 0, 8)


def test_rotary_is_copied_pickled_and_reads_from_a_server(client):
    x = torch.zeros(1)
    module = RotaryEmbedding(8, **YARN)
    expected = expected_rotary(FAR, 8, **YARN)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)),
                  RotaryEmbedding(8, client=client, **YARN)):
        assert_rotary(other(x, FAR), expected)


@pytest.mark.parametrize("arguments, field", [
    (dict(width=7), "spec.rotary.width"), (dict(width=8, base=1.0), "spec.rotary.base"),
    (dict(width=8, layout="sin_cos_halves"), "spec.rotary.layout"),
    (dict(width=8, scaling=YarnScaling(0.5, 4096)), "spec.rotary.yarn.factor"),
    (dict(width=8, dtype=torch.int64), "dtype")])
def test_rotary_refuses(arguments, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        RotaryEmbedding(**arguments)
    assert raised.value.field == field


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
@pytest.mark.parametrize("ids", [[[0, 1, 2, 1]] * 3, [[0, 100]]], ids=["near", "far"])
def test_rotary_takes_integers_of_every_width(ids, dtype):
    got = RotaryEmbedding(2)(torch.zeros(1), torch.tensor(ids, dtype=dtype))
    assert_rotary(got, expected_rotary(torch.tensor(ids), 2))


def test_rows_go_into_tensors_of_the_tables_type():
    for element_type, dtype in (("bfloat16", torch.bfloat16), ("float32", torch.float32)):
        table = local.sinusoidal(8, element_type=element_type)
        out = torch.empty(2, 8, dtype=dtype)
        table.read(5, 2, out=out)
        assert torch.equal(out, read(table, 5, 2))
    for wrong in (torch.empty(2, 8, device="meta"), torch.empty(2, 8, requires_grad=True)):
        with pytest.raises(errors.InvalidArgument, match="out"):
            table.read(5, 2, out=wrong)


@pytest.mark.parametrize("x, position_ids, field", [
    (torch.zeros(1), torch.zeros(1, 2, 3, dtype=torch.int64), "position_ids"),
    (torch.zeros(1), torch.zeros(3, dtype=torch.int64), "position_ids"),
    (torch.zeros(1), torch.zeros(2, 1, 3, dtype=torch.int64), "position_ids"),
    (torch.zeros(1), torch.zeros(1, 3), "position_ids"),
    (torch.zeros(1), torch.zeros(1, 3, dtype=torch.bool), "position_ids"),
    (torch.zeros(1, dtype=torch.int64), NEAR, "x")])
def test_rotary_calls_that_are_wrong(x, position_ids, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        RotaryEmbedding(8)(x, position_ids)
    assert raised.value.field == field


def test_rotary_past_the_last_position():
    with pytest.raises(errors.OutOfRange):
        RotaryEmbedding(8)(torch.zeros(1), torch.tensor([[2**53 + 1]]))


def test_a_batch_of_none():
    x = torch.zeros(0, 3, 8)
    for module in (SinusoidalPE(8), LearnedPE(16, 8)):
        for offset in (4, [], np.empty(0, np.int64), torch.zeros(0, dtype=torch.int64)):
            assert module(x, offset).shape == (0, 3, 8)
    assert LearnedPE(16, 8).positions(3, []).shape == (0, 3, 8)
    for axes, ids in (((), NEAR[:0]), ([2, 1, 1], NEAR[:0].expand(3, 0, 3))):
        cos, sin = RotaryEmbedding(8, mrope_section=axes)(x, ids)
        assert cos.shape == sin.shape == (0, 3, 8)


def test_an_offset_may_be_an_array_of_one_number():
    x = torch.zeros(2, 3, 8)
    for module in (SinusoidalPE(8), LearnedPE(16, 8)):
        for offset in (np.array(5), np.int32(5), torch.tensor(5)):
            assert torch.equal(module(x, offset), module(x, 5))


@pytest.mark.parametrize("call, field", [
    (lambda: SinusoidalPE(8)([[0.0] * 8]), "x"), (lambda: LearnedPE(4, 8)(np.zeros((1, 8))), "x"),
    (lambda: RotaryEmbedding(8)(None, NEAR), "x"),
    (lambda: RotaryEmbedding(8)(torch.zeros(1), [[0, 1]]), "position_ids"),
    (lambda: SinusoidalPE(8)(torch.zeros(1, 8), None), "offset"),
    (lambda: SinusoidalPE(8)(torch.zeros(1, 1, 8), [[1]]), "offset[0]"),
    (lambda: LearnedPE(4, 8).positions(1, np.array(0.5)), "offset"),
    (lambda: LearnedPE("4", 8), "spec.learned_init.max_positions"),
    (lambda: SinusoidalPE(8, client="127.0.0.1:1"), "client"),
    (lambda: RotaryEmbedding(8, client=local), "client"),
    (lambda: to_tensor([[1.0], [2.0, 3.0]]), "rows"),
    (lambda: to_tensor(np.zeros((1, 8), np.float32), "bfloat16"), "rows"),
    (lambda: gather(local.sinusoidal(8), [[1], [2, 3]]), "positions"),
    (lambda: gather(local.sinusoidal(8), [1, 2], axes=2), "axes"),
    (lambda: gather(local.sinusoidal(8), torch.ones(2, dtype=torch.bfloat16)), "positions"),
])
def test_arguments_of_another_kind(call, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        call()
    assert raised.value.field == field


def test_arguments_are_checked_before_there_is_memory_for_rows():
    learned = local.learned_init(8, 65536)
    for call, field in ((lambda: read(learned, 0, 2**40), "row_count"),
                        (lambda: read(learned, 9, 2**40), "start_position"),
                        (lambda: gather(learned, torch.tensor(-1).expand(2**24)), "positions[0]")):
        with pytest.raises(errors.OutOfRange) as raised:
            call()
        assert raised.value.field == field
    with pytest.raises(errors.InvalidArgument):
        read(learned, 0, -1)
    for count in (2**40, 2**52):
        with pytest.raises(errors.ResourceExhausted):
            read(local.sinusoidal(65536), 0, count)


# Tensors


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_of_rows(dtype):
    table = local.sinusoidal(8, element_type=name(dtype))
    expected = exact_tables.sinusoidal([7, 8, 9], 8, name(dtype))
    for tensor in (read(table, 7, 3), gather(table, [7, 8, 9]), gather(table, torch.tensor([7, 8, 9])),
                   to_tensor(table.read(7, 3), table.element_type)):
        assert tensor.dtype == dtype
        assert_same_bits(tensor.double().numpy(), expected)
        tensor += 1  # the caller's own
    assert_same_bits(values(table.read(7, 3), name(dtype)), expected)


def test_read_fills_a_tensor():
    tensor = torch.zeros(3, 8)
    assert local.sinusoidal(8).read(7, 3, out=tensor) is tensor
    assert_same_bits(tensor.double().numpy(), exact_tables.sinusoidal([7, 8, 9], 8))


def test_dlpack():
    rows = local.sinusoidal(8).read(7, 3)
    tensor = torch.from_dlpack(rows)
    assert_same_bits(tensor.double().numpy(), exact_tables.sinusoidal([7, 8, 9], 8))
