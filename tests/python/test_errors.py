"""Every refusal: of which kind, and which field it names; then the next call works."""

import numpy as np
import pytest

import phasor_tables
from phasor_tables import aio, errors, local


@pytest.mark.parametrize("scheme, fields, field", [
    ("sinusoidal", dict(width=3), "spec.sinusoidal.width"),
    ("sinusoidal", dict(width=0), "spec.sinusoidal.width"),
    ("sinusoidal", dict(width=65538), "spec.sinusoidal.width"),
    ("sinusoidal", dict(width=2**64), "spec.sinusoidal.width"),
    ("sinusoidal", dict(width=4.0), "spec.sinusoidal.width"),
    ("sinusoidal", dict(width=4, base=1.0), "spec.sinusoidal.base"),
    ("sinusoidal", dict(width=4, base=0.0), "spec.sinusoidal.base"),
    ("sinusoidal", dict(width=4, base=float("nan")), "spec.sinusoidal.base"),
    ("sinusoidal", dict(width=4, base="many"), "spec.sinusoidal.base"),
    ("sinusoidal", dict(width=4, ladder="downscaled"),
     "spec.sinusoidal.downscaled.downscale_shift"),
    ("sinusoidal", dict(width=4, ladder="paper", downscale_shift=1.0),
     "spec.sinusoidal.downscaled.downscale_shift"),
    ("sinusoidal", dict(width=4, ladder="steep"), "spec.sinusoidal.ladder"),
    ("sinusoidal", dict(width=4, layout="diagonal"), "spec.sinusoidal.layout"),
    ("sinusoidal", dict(width=4, element_type="int8"), "spec.element_type"),
    ("sinusoidal", dict(width=4, frequencies=[1.0, float("inf")]),
     "spec.sinusoidal.explicit.frequencies[1]"),
    ("sinusoidal", dict(width=4, frequencies=[1.0]), "spec.sinusoidal.explicit.frequencies"),
    ("sinusoidal", dict(width=4, ladder="inclusive", frequencies=[]),
     "spec.sinusoidal.explicit.frequencies"),
    ("sinusoidal", dict(width=4, zero_row=2**63), "spec.sinusoidal.zero_row"),
    ("sinusoidal", dict(width=4, base="10000"), "spec.sinusoidal.base"),
    ("sinusoidal", dict(width=4, layout=np.array(["sin_only"])), "spec.sinusoidal.layout"),
    ("sinusoidal", dict(width=7), "spec.sinusoidal.width"),
    ("sinusoidal", dict(width=8, odd_column="zero"), "spec.sinusoidal.odd_column"),
    ("sinusoidal", dict(width=7, odd_column="cosine"), "spec.sinusoidal.odd_column"),
    ("sinusoidal", dict(width=1, odd_column="zero"), "spec.sinusoidal.width"),
    ("sinusoidal", dict(width=7, odd_column="sine", layout="cos_only"), "spec.sinusoidal.layout"),
    ("sinusoidal", dict(width=4, ladder="paper", min_timescale=2.0),
     "spec.sinusoidal.timescales.min_timescale"),
    ("sinusoidal", dict(width=4, ladder="timescales", max_timescale=1.0),
     "spec.sinusoidal.timescales.max_timescale"),
    ("sinusoidal", dict(width=4, min_timescale=0.0), "spec.sinusoidal.timescales.min_timescale"),
    ("sinusoidal", dict(width=4, max_timescale="far"), "spec.sinusoidal.timescales.max_timescale"),
    ("sinusoidal", dict(width=4, ladder="timescales", base=10000.0), "spec.sinusoidal.base"),
    ("timestep", dict(width=8), "spec.timestep.downscale_freq_shift"),
    ("timestep", dict(width=2, downscale_freq_shift=1), "spec.timestep.downscale_freq_shift"),
    ("timestep", dict(width=1, downscale_freq_shift=0), "spec.timestep.width"),
    ("timestep", dict(width=8, downscale_freq_shift=0, scale=0), "spec.timestep.scale"),
    ("timestep", dict(width=8, downscale_freq_shift=0, max_period=1), "spec.timestep.max_period"),
    ("timestep", dict(width=8, downscale_freq_shift=0, max_period=None),
     "spec.timestep.max_period"),
    ("timestep", dict(width=8, downscale_freq_shift=0, flip_sin_to_cos=1),
     "spec.timestep.flip_sin_to_cos"),
    ("none", dict(width=7), "spec.none.width"),
    ("none", dict(width=8, additive=1), "spec.none.additive"),
    ("none", dict(width=8, additive=True, layout="cos_only"), "spec.none.layout"),
    ("alibi", dict(head_count=0), "spec.alibi.head_count"),
    ("alibi", dict(head_count=8, bias_max=0), "spec.alibi.bias_max"),
    ("alibi", dict(head_count=8, form="key"), "spec.alibi.form"),
    ("alibi", dict(head_count=8, element_type="int32"), "spec.element_type"),
    ("relative_buckets", dict(num_buckets=3), "spec.relative_buckets.num_buckets"),
    ("relative_buckets", dict(num_buckets=None), "spec.relative_buckets.num_buckets"),
    ("relative_buckets", dict(max_distance=8), "spec.relative_buckets.max_distance"),
    ("relative_buckets", dict(bidirectional=None), "spec.relative_buckets.bidirectional"),
    ("relative_buckets", dict(element_type="float32"), "spec.element_type"),
    ("learned_init", dict(max_positions=0, width=4), "spec.learned_init.max_positions"),
    ("learned_init", dict(max_positions=4, width=0), "spec.learned_init.width"),
    ("learned_init", dict(max_positions=4, width=4, stddev=0.0), "spec.learned_init.stddev"),
    ("learned_init", dict(max_positions=4, width=4, stream=-1), "spec.learned_init.stream"),
])
def test_specs_that_are_wrong(opener, scheme, fields, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        getattr(opener, scheme)(**fields)
    assert raised.value.field == field
    assert str(raised.value).startswith(field + ": ")
    assert isinstance(raised.value, ValueError)
    assert opener.sinusoidal(width=4).read(0, 1).shape == (1, 4)


def test_values_that_do_not_fit(opener):
    with pytest.raises(errors.OutOfRange) as raised:
        opener.learned_init(4, 4, stddev=1e5, element_type="float16")
    assert raised.value.field == "spec.learned_init.stddev"


@pytest.mark.parametrize("call, kind, field", [
    (lambda t: t.read(8, 1), errors.OutOfRange, "start_position"),
    (lambda t: t.read(-1, 1), errors.OutOfRange, "start_position"),
    (lambda t: t.read(7, 2), errors.OutOfRange, "row_count"),
    (lambda t: t.read(2**63 - 1, 2**63 - 1), errors.OutOfRange, "start_position"),
    (lambda t: t.read(2**63, 1), errors.InvalidArgument, "start_position"),
    (lambda t: t.read(0, -1), errors.InvalidArgument, "row_count"),
    (lambda t: t.read(0, 1.0), errors.InvalidArgument, "row_count"),
    (lambda t: t.gather([0, 8]), errors.OutOfRange, "positions[1]"),
    (lambda t: t.gather([-1]), errors.OutOfRange, "positions[0]"),
    (lambda t: t.gather([2**63]), errors.InvalidArgument, "positions"),
    (lambda t: t.gather([True]), errors.InvalidArgument, "positions"),
    (lambda t: t.gather(["1"]), errors.InvalidArgument, "positions"),
    (lambda t: t.gather([[1], [2, 3]]), errors.InvalidArgument, "positions"),
    (lambda t: t.gather([1, None]), errors.InvalidArgument, "positions[1]"),
    (lambda t: t.gather([1, 2**64]), errors.InvalidArgument, "positions[1]"),
    (lambda t: t.gather([1, True, 0.5]), errors.InvalidArgument, "real_positions[1]"),
    (lambda t: t.gather([1], axes=None), errors.InvalidArgument, "axes"),
    (lambda t: t.shift([[1.0], [2.0, 3.0]], 1), errors.InvalidArgument, "data"),
    (lambda t: t.gather([0.5]), errors.InvalidArgument, "real_positions"),
    (lambda t: t.frequencies(), errors.InvalidArgument, "spec"),
    (lambda t: t.shift(np.zeros((1, 4), np.float32), 1), errors.InvalidArgument, "spec"),
])
def test_calls_on_a_learned_table_that_are_wrong(opener, call, kind, field):
    table = opener.learned_init(8, 4)
    with pytest.raises(kind) as raised:
        call(table)
    assert (type(raised.value), raised.value.field) == (kind, field)
    assert raised.value.violations[0].description
    assert table.read(7, 1).shape == (1, 4)


@pytest.mark.parametrize("call, kind, field", [
    (lambda t: t.read(2**53, 2), errors.OutOfRange, "row_count"),
    (lambda t: t.gather([0.0, float("nan")]), errors.InvalidArgument, "real_positions[1]"),
    (lambda t: t.gather([2.0**54]), errors.OutOfRange, "real_positions[0]"),
    (lambda t: t.shift(np.zeros((1, 5), np.float32), 1), errors.InvalidArgument, "data"),
    (lambda t: t.shift(np.zeros((1, 4)), 1), errors.InvalidArgument, "data"),
    (lambda t: t.shift(np.full((2, 4), np.nan, np.float32), 1), errors.InvalidArgument, "data"),
    (lambda t: t.shift(np.zeros((1, 4), np.float32), float("inf")), errors.InvalidArgument, "by"),
    (lambda t: t.shift(np.zeros((1, 4), np.float32), 2**63), errors.InvalidArgument, "by"),
    (lambda t: t.shift(np.full((1, 4), 3e38, np.float32), 0.7), errors.OutOfRange, "data"),
    (lambda t: t.cursor("start"), errors.InvalidArgument, "start_position"),
    # 2**53 + 1 would be 2**53 beside a float, and beside an integer of NumPy's other kind.
    (lambda t: t.gather([0.5, 2**53 + 1]), errors.InvalidArgument, "real_positions[1]"),
    (lambda t: t.gather([np.uint64(2**53 + 1), np.int64(1)]), errors.OutOfRange, "positions[0]"),
    (lambda t: t.gather([[1, -1], [2, 2**63]]), errors.InvalidArgument, "positions[3]"),
])
def test_calls_on_a_sinusoidal_table_that_are_wrong(opener, call, kind, field):
    table = opener.sinusoidal(width=4)
    with pytest.raises(kind) as raised:
        call(table)
    assert (type(raised.value), raised.value.field) == (kind, field)
    assert table.read(7, 1).shape == (1, 4)


@pytest.mark.parametrize("arguments, field", [
    (dict(address=""), "address"),
    (dict(address="two words:1"), "address"),
    (dict(address="x:1", timeout=0), "timeout"),
    (dict(address="x:1", timeout="1"), "timeout"),
    (dict(address="x:1", timeout=float("inf")), "timeout"),
    (dict(address="x:1", timeout=float("nan")), "timeout"),
    (dict(address="x:1", timeout=None), "timeout"),
    (dict(address="x:1", max_backoff="1"), "max_backoff"),
    (dict(address="x:1", block_cache_bytes="1"), "block_cache_bytes"),
    (dict(address="x:1", block_cache_bytes=1.5), "block_cache_bytes"),
    (dict(address="x:1", fallback=np.array(["local", "local"])), "fallback"),
    (dict(address="x:1", credentials="certificate"), "credentials"),
    (dict(address="x:1", channel_options=7), "channel_options"),
    (dict(address="x:1", channel_options=[("grpc.keepalive_time_ms",)]), "channel_options"),
    (dict(address=7), "address"),
    (dict(address="x:1", fallback="remote"), "fallback"),
    (dict(address="x:1", block_cache_bytes=-1), "block_cache_bytes"),
    (dict(address="x:1", initial_backoff=2.0, max_backoff=1.0), "max_backoff"),
])
def test_clients_that_are_wrong(arguments, field):
    for kind in (phasor_tables.Client, aio.Client):
        with pytest.raises(errors.InvalidArgument) as raised:
            kind(**arguments)
        assert raised.value.field == field


def test_what_is_no_spec(opener):
    for what in (None, 4, "sinusoidal", phasor_tables.LinearScaling(2)):
        with pytest.raises(errors.InvalidArgument) as raised:
            opener.open(what)
        assert raised.value.field == "spec"


def test_more_rows_than_memory_holds():
    table = local.sinusoidal(65536)
    with pytest.raises(errors.ResourceExhausted):
        table.read(0, 2**50)
    with pytest.raises(errors.ResourceExhausted):
        table.gather(np.broadcast_to(np.int64(7), (2**24,)))


def test_positions_are_checked_before_there_is_memory_for_rows():
    positions = np.broadcast_to(np.int64(-1), (2**24,))
    with pytest.raises(errors.OutOfRange) as raised:
        local.learned_init(8, 65536).gather(positions)  # rows of 4 TiB
    assert raised.value.field == "positions[0]"


def test_no_server_is_unavailable_within_the_timeout(tmp_path):
    client = phasor_tables.Client(f"unix:{tmp_path}/nobody", timeout=0.3)
    with pytest.raises(errors.Unavailable) as raised:
        client.sinusoidal(width=4)
    assert isinstance(raised.value, ConnectionError)
    assert raised.value.code == "UNAVAILABLE"
