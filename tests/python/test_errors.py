"""Every refusal: of which kind, and which field it names; then the next call works."""

import numpy as np
import pytest

import phasor_tables
from phasor_tables import errors, local


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
    (dict(address="x:1", fallback="remote"), "fallback"),
    (dict(address="x:1", block_cache_bytes=-1), "block_cache_bytes"),
    (dict(address="x:1", initial_backoff=2.0, max_backoff=1.0), "max_backoff"),
])
def test_clients_that_are_wrong(arguments, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        phasor_tables.Client(**arguments)
    assert raised.value.field == field


def test_more_rows_than_memory_holds():
    with pytest.raises(errors.ResourceExhausted):
        local.sinusoidal(65536).read(0, 2**50)


def test_no_server_is_unavailable_within_the_timeout(tmp_path):
    client = phasor_tables.Client(f"unix:{tmp_path}/nobody", timeout=0.3)
    with pytest.raises(errors.Unavailable) as raised:
        client.sinusoidal(width=4)
    assert isinstance(raised.value, ConnectionError)
    assert raised.value.code == "UNAVAILABLE"
