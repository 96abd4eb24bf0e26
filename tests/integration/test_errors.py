"""What is refused, over the wire: each with its code, its field and its reason.

The details are read with Google's own Python classes of google.rpc, not with
the wire-compatible messages of phasor.v1; and after each refusal the same
connection is served.
"""

import sys

import grpc
import pytest
from google.protobuf import json_format

from conftest import BUILD

sys.path.insert(0, str(BUILD / "pypi"))
import google  # noqa: E402

google.__path__.append(str(BUILD / "pypi/google"))
from google.rpc import error_details_pb2, status_pb2  # noqa: E402

LIMIT = 1 << 53  # the outermost position of a formula table
INT64_MAX = (1 << 63) - 1


def sinusoidal(**fields):
    return {"sinusoidal": {"width": 8, **fields}}


def learned(**fields):
    return {"learned_init": {"max_positions": 10, "width": 8, **fields}}


def explicit(*frequencies, **fields):
    return sinusoidal(explicit={"frequencies": list(frequencies)}, **fields)


def get(spec, **fields):
    return "GetRows", {"spec": spec, "row_count": 1, **fields}


def gather(spec, **fields):
    return "GatherRows", {"spec": spec, **fields}


def shift(spec, data=bytes(32), **fields):
    return "ShiftRows", {"spec": spec, "data": data, **fields}


NOT_A_NUMBER = b"\x00\x00\xc0\x7f"
ONE_PAIR = {"sinusoidal": {"width": 2}}

INVALID = [
    # No table, or no such table.
    (("GetRows", {"row_count": 1}), "spec"),
    (get({}), "spec"),
    (get({"element_type": 3}), "spec"),
    # Absent is the default; a zero that is written is a zero.
    (get({"sinusoidal": {}}), "spec.sinusoidal.width"),
    (get(sinusoidal(width=0)), "spec.sinusoidal.width"),
    (get(sinusoidal(width=-2)), "spec.sinusoidal.width"),
    (get(sinusoidal(width=7)), "spec.sinusoidal.width"),
    (get(sinusoidal(width=65538)), "spec.sinusoidal.width"),
    (get(sinusoidal(width=-(1 << 63))), "spec.sinusoidal.width"),
    (get(sinusoidal(base=0)), "spec.sinusoidal.base"),
    (get(sinusoidal(base=1)), "spec.sinusoidal.base"),
    (get(sinusoidal(base=-10000)), "spec.sinusoidal.base"),
    (get(sinusoidal(base="NaN")), "spec.sinusoidal.base"),
    (get(sinusoidal(base="Infinity")), "spec.sinusoidal.base"),
    (get(sinusoidal(base=18446744073709555712.0)), "spec.sinusoidal.base"),
    # Ladders.
    (get(sinusoidal(downscaled={})), "spec.sinusoidal.downscaled.downscale_shift"),
    (get(sinusoidal(downscaled={"downscale_shift": 3.75})),
     "spec.sinusoidal.downscaled.downscale_shift"),
    (get(sinusoidal(downscaled={"downscale_shift": -0.5})),
     "spec.sinusoidal.downscaled.downscale_shift"),
    (get(sinusoidal(downscaled={"downscale_shift": "NaN"})),
     "spec.sinusoidal.downscaled.downscale_shift"),
    (get(explicit(1, 1, 1)), "spec.sinusoidal.explicit.frequencies"),
    (get(explicit()), "spec.sinusoidal.explicit.frequencies"),
    (get(explicit(1, 1, 1, "NaN")), "spec.sinusoidal.explicit.frequencies[3]"),
    (get(explicit(1, 2.0**33, 1, 1)), "spec.sinusoidal.explicit.frequencies[1]"),
    (get(explicit(2.0**-65, 1, 1, 1)), "spec.sinusoidal.explicit.frequencies[0]"),
    (get(explicit(1, 1, 1, 1, base=10000)), "spec.sinusoidal.base"),
    # Unknown enumerators.
    (get(sinusoidal(layout=99)), "spec.sinusoidal.layout"),
    (get({**sinusoidal(), "element_type": 99}), "spec.element_type"),
    (get({**sinusoidal(), "numerics": 99}), "spec.numerics"),
    # An offset that leaves no position.
    (get(sinusoidal(position_offset=INT64_MAX)), "spec.sinusoidal.position_offset"),
    # Seeded tables.
    (get({"learned_init": {"width": 8}}), "spec.learned_init.max_positions"),
    (get(learned(max_positions=0)), "spec.learned_init.max_positions"),
    (get(learned(max_positions=INT64_MAX)), "spec.learned_init.max_positions"),
    (get(learned(width=0)), "spec.learned_init.width"),
    (get(learned(width=65537)), "spec.learned_init.width"),
    (get(learned(stddev=0)), "spec.learned_init.stddev"),
    (get(learned(stddev=-0.02)), "spec.learned_init.stddev"),
    (get(learned(stddev="NaN")), "spec.learned_init.stddev"),
    (get(learned(stddev="Infinity")), "spec.learned_init.stddev"),
    (get(learned(stream=-1)), "spec.learned_init.stream"),
    # Counts.
    (("GetRows", {"spec": sinusoidal()}), "row_count"),
    (get(sinusoidal(), row_count=-1), "row_count"),
    (("ReadRows", {"spec": sinusoidal()}), "row_count"),
    (("ReadRows", {"spec": sinusoidal(), "row_count": -1}), "row_count"),
    # Positions.
    (gather(sinusoidal(), positions=[1], real_positions=[1.0]), "real_positions"),
    (gather(sinusoidal(), real_positions=[0.5, "NaN"]), "real_positions[1]"),
    (gather(sinusoidal(), real_positions=["Infinity"]), "real_positions[0]"),
    # Shifts.
    (shift(sinusoidal()), "by"),
    (shift(sinusoidal(), fractional_steps="NaN"), "by"),
    (shift(sinusoidal(), fractional_steps="-Infinity"), "by"),
    (shift(sinusoidal(), data=bytes(31), steps=1), "data"),
    (shift(ONE_PAIR, data=NOT_A_NUMBER + bytes(4), steps=1), "data"),
    # Pages.
    (("ListTables", {"page_size": 0}), "page_size"),
    (("ListTables", {"page_size": 1001}), "page_size"),
    (("ListTables", {"page_token": "no token of this server"}), "page_token"),
]

OUT_OF_RANGE = [
    (get(learned(), start_position=10), "start_position"),
    (get(learned(), start_position=-1), "start_position"),
    (get(learned(), start_position=5, row_count=6), "row_count"),
    (get(learned(), start_position=11, row_count=0), "start_position"),
    (get(learned(), start_position=INT64_MAX, row_count=INT64_MAX), "start_position"),
    (("ReadRows", {"spec": learned(), "start_position": 5, "row_count": 6}), "row_count"),
    (("ReadRows", {"spec": learned(), "start_position": 11, "row_count": 0}), "start_position"),
    (get(sinusoidal(), start_position=LIMIT + 1), "start_position"),
    (get(sinusoidal(), start_position=-LIMIT - 1), "start_position"),
    (get(sinusoidal(), start_position=LIMIT, row_count=2), "row_count"),
    (get(sinusoidal(position_offset=1), start_position=LIMIT), "start_position"),
    (("ReadRows", {"spec": sinusoidal(), "row_count": INT64_MAX}), "row_count"),
    (gather(learned(), positions=[0, 9, 10]), "positions[2]"),
    (gather(learned(), positions=[-1]), "positions[0]"),
    (gather(sinusoidal(), positions=[0, LIMIT + 1]), "positions[1]"),
    (gather(sinusoidal(), real_positions=[0.5, 1e300]), "real_positions[1]"),
    (get({**learned(stddev=60000.0), "element_type": "ELEMENT_TYPE_FLOAT16"}),
     "spec.learned_init.stddev"),
]

STALE = "0123456789abcdef0123456789abcdef"
FAILED_PRECONDITION = [
    ((method, {"spec": sinusoidal(), "expected_fingerprint": STALE, **fields}),
     "expected_fingerprint")
    for method, fields in [
        ("GetTable", {}), ("GetFrequencies", {}), ("GetRows", {"row_count": 1}),
        ("ReadRows", {"row_count": 1}), ("GatherRows", {"positions": [1]}),
        ("ShiftRows", {"data": bytes(32), "steps": 1}),
    ]
]

RESOURCE_EXHAUSTED = [
    (get(sinusoidal(width=128), row_count=8192), "row_count"),
    (get(sinusoidal(width=65536), row_count=LIMIT), "row_count"),
    (gather({**sinusoidal(width=65536), "element_type": "ELEMENT_TYPE_FLOAT64"},
            positions=list(range(9))), "positions"),
]

REASONS = {
    "INVALID_ARGUMENT": "INVALID_FIELD",
    "OUT_OF_RANGE": "OUT_OF_RANGE",
    "FAILED_PRECONDITION": "FINGERPRINT_MISMATCH",
    "RESOURCE_EXHAUSTED": "MESSAGE_TOO_LARGE",
}

CASES = [
    (code, *case)
    for code in REASONS
    for case in {"INVALID_ARGUMENT": INVALID, "OUT_OF_RANGE": OUT_OF_RANGE,
                 "FAILED_PRECONDITION": FAILED_PRECONDITION,
                 "RESOURCE_EXHAUSTED": RESOURCE_EXHAUSTED}[code]
]


def message(v1, method, fields):
    fields = dict(fields)
    data = fields.pop("data", None)
    request = json_format.ParseDict(fields, getattr(v1, method + "Request")())
    if data is not None:
        request.data = data
    return request


def refusal(call):
    """The error of a call: (grpc.RpcError, its details by type)."""
    with pytest.raises(grpc.RpcError) as caught:
        answer = call()
        if hasattr(answer, "__next__"):
            list(answer)
    error = caught.value
    trailers = dict(error.trailing_metadata())
    status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
    assert status.code == error.code().value[0]
    assert status.message == error.details()
    details = {}
    for kind in (error_details_pb2.BadRequest, error_details_pb2.ErrorInfo,
                 error_details_pb2.RetryInfo):
        for packed in status.details:
            found = kind()
            if packed.Unpack(found):
                details[kind.DESCRIPTOR.name] = found
    assert len(details) == len(status.details)
    return error, details


def assert_served(stub, v1):
    rows = stub.GetRows(
        v1.GetRowsRequest(spec=v1.TableSpec(sinusoidal=v1.Sinusoidal(width=2)), row_count=1)).rows
    assert rows.data == bytes(4) + b"\x00\x00\x80\x3f"


@pytest.mark.parametrize(
    "code,call,field", CASES,
    ids=[f"{code}-{n}-{field}" for n, (code, _, field) in enumerate(CASES)])
def test_refused(stub, v1, code, call, field):
    method, fields = call
    error, details = refusal(lambda: getattr(stub, method)(message(v1, method, fields)))
    assert error.code().name == code, error.details()
    violations = details["BadRequest"].field_violations
    assert [v.field for v in violations] == [field], error.details()
    assert violations[0].description
    assert field in error.details()
    assert details["ErrorInfo"].reason == REASONS[code]
    assert details["ErrorInfo"].domain == "phasor"
    assert "RetryInfo" not in details
    assert_served(stub, v1)


@pytest.mark.parametrize("method,fields,wrong,value", [
    ("GetRows", {"spec": sinusoidal(width=7), "row_count": 1}, "width", "7"),
    ("GetRows", {"spec": sinusoidal(base=-2.5), "row_count": 1}, "base", "-2.5"),
    ("GetRows", {"spec": learned(), "start_position": 10, "row_count": 1}, "row", "10"),
    ("GetRows", {"spec": sinusoidal(), "row_count": -3}, "row_count", "-3"),
    ("GatherRows", {"spec": learned(), "positions": [4711]}, "positions[0]", "4711"),
    ("ShiftRows", {"spec": ONE_PAIR, "data": bytes(12) + NOT_A_NUMBER, "steps": 1},
     "row 1", "column 1"),
])
def test_the_message_names_the_value(stub, v1, method, fields, wrong, value):
    error, _ = refusal(lambda: getattr(stub, method)(message(v1, method, fields)))
    assert wrong in error.details()
    assert value in error.details()


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def wrapped(number, content):
    """A field of kind message or bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


# Field 1234, of kind int: in the request, the spec, the scheme and the ladder.
UNKNOWN = varint(1234 << 3) + b"\x01"
WIDTH_8 = b"\x08\x08"


@pytest.mark.parametrize("method", ["GetTable", "GetFrequencies", "GetRows", "ReadRows",
                                    "GatherRows", "ShiftRows"])
@pytest.mark.parametrize("request_bytes", [
    wrapped(1, wrapped(1, WIDTH_8)) + UNKNOWN,
    wrapped(1, wrapped(1, WIDTH_8) + UNKNOWN),
    wrapped(1, wrapped(1, WIDTH_8 + UNKNOWN)),
    wrapped(1, wrapped(1, WIDTH_8 + wrapped(3, UNKNOWN))),
], ids=["request", "spec", "scheme", "ladder"])
def test_unknown_fields_are_refused_by_number(channel, stub, v1, method, request_bytes):
    path = "/phasor.v1.PositionTableService/" + method
    kind = channel.unary_stream if method == "ReadRows" else channel.unary_unary
    error, details = refusal(lambda: kind(path)(request_bytes))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "1234" in error.details()
    assert "1234" in details["BadRequest"].field_violations[0].field
    assert details["ErrorInfo"].reason == "INVALID_FIELD"
    assert_served(stub, v1)


def test_unknown_scheme_is_refused_by_number(channel):
    """A scheme of a newer server's: never answered as if nothing had been set."""
    rows = channel.unary_unary("/phasor.v1.PositionTableService/GetRows")
    error, _ = refusal(lambda: rows(wrapped(1, wrapped(2000, b"")) + b"\x18\x01"))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "2000" in error.details()


def test_a_long_fault_is_told_in_short(stub, v1):
    request = message(v1, *get(sinusoidal(), expected_fingerprint="f" * 100000))
    error, details = refusal(lambda: stub.GetRows(request))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert details["BadRequest"].field_violations[0].field == "expected_fingerprint"
    assert len(error.details()) <= 1024
    assert_served(stub, v1)


def test_an_overlong_request_is_refused(stub, v1):
    """gRPC itself refuses it, and gives no details: more than max_message_bytes, head included."""
    request = v1.GatherRowsRequest(
        spec=v1.TableSpec(sinusoidal=v1.Sinusoidal(width=2)), real_positions=[0.5] * (1 << 19))
    with pytest.raises(grpc.RpcError) as error:
        stub.GatherRows(request)
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "grpc-status-details-bin" not in dict(error.value.trailing_metadata())
    assert_served(stub, v1)


def test_shift_needs_both_halves_of_each_pair(stub, v1):
    request = message(v1, *shift(sinusoidal(layout="LAYOUT_SIN_ONLY"), data=bytes(16), steps=1))
    error, _ = refusal(lambda: stub.ShiftRows(request))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    learned_rows = message(v1, *shift(learned(), steps=1))
    error, _ = refusal(lambda: stub.ShiftRows(learned_rows))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_seeded_tables_have_no_frequencies(stub, v1):
    request = message(v1, "GetFrequencies", {"spec": learned()})
    error, details = refusal(lambda: stub.GetFrequencies(request))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert details["ErrorInfo"].reason == "INVALID_FIELD"
