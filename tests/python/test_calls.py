"""Calls that go wrong: a server made here, of grpcio's, that answers as it is told."""

import concurrent.futures
import threading

import grpc
import numpy as np
import pytest

import phasor_tables
from phasor_tables import _wire, errors, local


class ToldServer:
    """Answers methods by functions (request, context) -> bytes, or an iterator of them."""

    def __init__(self):
        self.answers = {}
        self.requests = []
        self.metadata = []
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        self.server.add_generic_rpc_handlers((self,))
        port = self.server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"
        self.server.start()

    def service(self, details):
        name = details.method.rpartition("/")[2]

        def answer(request, context):
            self.metadata.append(dict(context.invocation_metadata()))
            request = _wire.message(name + "Request").FromString(request)
            self.requests.append((name, request))
            return self.answers[name](request, context)

        if name == "ReadRows":
            return grpc.unary_stream_rpc_method_handler(answer)
        return grpc.unary_unary_rpc_method_handler(answer)


SPEC = phasor_tables.Sinusoidal(64)
ROWS = local.open(SPEC)


def table_response(request, context=None, **changed):
    fields = dict(spec=request.spec, fingerprint=ROWS.fingerprint, row_width=64, row_bytes=256)
    return _wire.message("GetTableResponse")(**{**fields, **changed}).SerializeToString()


def rows_response(name, start, count, **changed):
    fields = dict(fingerprint=ROWS.fingerprint, start_position=start, row_count=count, row_width=64,
                  element_type=1, data=ROWS.read(start, count).tobytes())
    rows = _wire.message("Rows")(**{**fields, **changed})
    return _wire.message(name + "Response")(rows=rows).SerializeToString()


def get_rows(request, context=None, **changed):
    return rows_response("GetRows", request.start_position, request.row_count, **changed)


@pytest.fixture
def told():
    told = ToldServer()
    told.answers.update(GetTable=table_response, GetRows=get_rows)
    yield told
    told.server.stop(None)


def unavailable(context, pushback=None, text="busy"):
    if pushback is not None:
        context.set_trailing_metadata((("grpc-retry-pushback-ms", pushback),))
    context.abort(grpc.StatusCode.UNAVAILABLE, text)


@pytest.fixture
def table(told):
    with phasor_tables.Client(told.address) as client:
        yield client.open(SPEC)


def test_calls_name_the_table_they_mean(told, table):
    table.read(0, 1)
    for name, request in told.requests:
        assert request.expected_fingerprint == ROWS.fingerprint
        assert request.spec.sinusoidal.width == 64
    assert [m["x-phasor-table"] for m in told.metadata] == [ROWS.fingerprint] * 2


@pytest.mark.parametrize("changed", [
    dict(fingerprint="0" * 32), dict(row_width=63), dict(row_bytes=8),
    dict(spec=_wire.message("TableSpec")()),
])
def test_another_table_by_the_same_spec(told, changed):
    told.answers["GetTable"] = lambda request, context: table_response(request, **changed)
    with phasor_tables.Client(told.address) as client, pytest.raises(errors.FailedPrecondition):
        client.open(SPEC)


@pytest.mark.parametrize("changed, kind", [
    (dict(fingerprint="0" * 32), errors.FailedPrecondition),
    (dict(start_position=1), errors.DataLoss),
    (dict(row_width=32), errors.DataLoss),
    (dict(element_type=2), errors.DataLoss),
    (dict(row_count=1), errors.DataLoss),
    (dict(data=b"1234"), errors.DataLoss),
    (dict(data=ROWS.read(0, 3).tobytes()), errors.DataLoss),
])
def test_rows_other_than_those_asked_for(told, table, changed, kind):
    told.answers["GetRows"] = lambda request, context: get_rows(request, **changed)
    with pytest.raises(kind):
        table.read(0, 3)
    told.answers["GetRows"] = get_rows
    assert np.array_equal(table.read(0, 3), ROWS.read(0, 3))


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_responses_that_are_cut(told, table, cut):
    told.answers["GetRows"] = lambda request, context: get_rows(request)[:-1 - cut]
    with pytest.raises((errors.DataLoss, errors.FailedPrecondition)):
        table.read(0, 3)


def test_fields_that_are_not_known_are_passed_over(told, table):
    unknown = _wire.message("Rows")().SerializeToString() + b"\xf8\x07\x05\xfa\x07\x03abc"
    told.answers["GetRows"] = lambda request, context: (
        b"\xf8\x07\x05" + get_rows(request) + unknown + b"\xfd\x07abcd\xf9\x07abcdefgh")
    assert np.array_equal(table.read(0, 3), ROWS.read(0, 3))


def test_unavailable_is_tried_again(told, table):
    tries = []

    def answer(request, context):
        tries.append(context.time_remaining())
        if len(tries) < 4:
            unavailable(context, "200")
        return get_rows(request)

    told.answers["GetRows"] = answer
    assert np.array_equal(table.read(0, 3), ROWS.read(0, 3))
    assert len(tries) == 4 and tries[3] < tries[0] - 0.3  # one deadline for all
    assert table._table.session.counters().retries == 3


@pytest.mark.parametrize("pushback", ["-1", "many", "20000"])
def test_the_server_says_not_to_try_again(told, table, pushback):
    told.answers["GetRows"] = lambda request, context: unavailable(context, pushback)
    before = len(told.requests)
    with pytest.raises(errors.Unavailable, match="busy"):
        table.read(0, 3)
    assert len(told.requests) == before + 1


def test_other_codes_are_not_tried_again(told, table):
    told.answers["GetRows"] = lambda request, context: context.abort(
        grpc.StatusCode.FAILED_PRECONDITION, "another one")
    before = len(told.requests)
    with pytest.raises(errors.FailedPrecondition, match="another one"):
        table.read(0, 3)
    assert len(told.requests) == before + 1


def test_the_deadline_bounds_all_tries(told):
    told.answers["GetRows"] = lambda request, context: unavailable(context)
    with phasor_tables.Client(told.address, timeout=0.4) as client:
        table = client.open(SPEC)
        with pytest.raises(errors.Unavailable, match="busy"):
            table.read(0, 3)


def test_a_server_that_hangs_is_deadline_exceeded(told):
    hold = threading.Event()
    told.answers["GetRows"] = lambda request, context: hold.wait() and b""
    with phasor_tables.Client(told.address, timeout=0.3) as client:
        table = client.open(SPEC)
        with pytest.raises(errors.DeadlineExceeded):
            table.read(0, 3)
    hold.set()


def test_a_stream_goes_on_where_it_broke(told, table):
    asked = []

    def answer(request, context):
        asked.append((request.start_position, request.row_count))
        yield rows_response("ReadRows", request.start_position, 1000)
        if len(asked) < 3:
            unavailable(context, "1")
        start = request.start_position + 1000
        yield rows_response("ReadRows", start, request.row_count - 1000)

    told.answers["ReadRows"] = answer
    assert np.array_equal(table.read(7, 5000), ROWS.read(7, 5000))
    assert asked == [(7, 5000), (1007, 4000), (2007, 3000)]


@pytest.mark.parametrize("chunks", [[(0, 5000), (5000, 1)], [(0, 4999)], [(0, 0)], [(1, 5000)],
                                    [(0, 2000), (1999, 3001)], []])
def test_streams_of_other_rows_than_asked_for(told, table, chunks):
    told.answers["ReadRows"] = lambda request, context: (
        rows_response("ReadRows", *chunk) for chunk in chunks)
    with pytest.raises(errors.DataLoss):
        table.read(0, 5000)


def test_a_server_told_to_send_small_messages_is_read_by_stream(told, table):
    told.answers["GetRows"] = lambda request, context: context.abort(
        grpc.StatusCode.RESOURCE_EXHAUSTED, "too large")
    told.answers["ReadRows"] = lambda request, context: (
        rows_response("ReadRows", request.start_position + i, 1)
        for i in range(request.row_count))
    assert np.array_equal(table.read(0, 3), ROWS.read(0, 3))


def test_violations_are_read_from_the_trailer(told, table):
    violation = _wire.message("BadRequest")()
    violation.field_violations.add(field="row_count", description="is odd")
    violation.field_violations.add(field="start_position", description="too")
    status = _wire.message("ErrorStatus")(code=3, message="row_count: is odd")
    status.details.add(type_url="type.googleapis.com/google.rpc.BadRequest",
                       value=violation.SerializeToString())

    def answer(request, context):
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "row_count: is odd")

    told.answers["GetRows"] = answer
    with pytest.raises(errors.InvalidArgument, match="row_count: is odd") as raised:
        table.read(0, 3)
    assert raised.value.violations == (("row_count", "is odd"), ("start_position", "too"))


def test_fallback_computes_what_the_server_does_not_answer(told, tmp_path):
    nobody = phasor_tables.Client(f"unix:{tmp_path}/nobody", fallback="local", timeout=2)
    table = nobody.open(SPEC)
    assert np.array_equal(table.read(0, 5000), ROWS.read(0, 5000))
    assert np.array_equal(table.gather([1, 7]), ROWS.gather([1, 7]))
    assert np.array_equal(table.shift(ROWS.read(0, 2), 3), ROWS.shift(ROWS.read(0, 2), 3))
    assert np.array_equal(table.cursor(9).next(), ROWS.read(9, 1)[0])
    assert nobody.counters().local_fallbacks >= 5

    told.answers["GetRows"] = lambda request, context: unavailable(context)
    with phasor_tables.Client(told.address, fallback="local") as client:
        table = client.open(SPEC)
        assert client.counters().local_fallbacks == 0
        assert np.array_equal(table.read(0, 3), ROWS.read(0, 3))
        assert client.counters().local_fallbacks == 1


def test_fallback_passes_on_what_a_server_refuses(told):
    told.answers["GetRows"] = lambda request, context: context.abort(
        grpc.StatusCode.FAILED_PRECONDITION, "another one")
    with phasor_tables.Client(told.address, fallback="local") as client:
        with pytest.raises(errors.FailedPrecondition):
            client.open(SPEC).read(0, 3)
        assert client.counters().local_fallbacks == 0


def test_of_many_who_miss_a_block_one_fetches_it(told, table):
    arrived = threading.Event()
    go = threading.Event()

    def answer(request, context):
        arrived.set()
        go.wait()
        return get_rows(request)

    told.answers["GetRows"] = answer
    before = len(told.requests)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        first = pool.submit(table.read, 5, 1)
        arrived.wait()
        others = [pool.submit(table.read, at, 1) for at in (6, 7)]
        go.set()
        rows = [future.result() for future in [first, *others]]
    assert np.array_equal(np.concatenate(rows), ROWS.read(5, 3))
    assert len(told.requests) == before + 1


def test_read_ahead_that_fails_is_made_again(told, table):
    failed = threading.Event()

    def answer(request, context):
        if request.start_position >= 1024 and not failed.is_set():
            failed.set()
            unavailable(context, "1")
        return get_rows(request)

    told.answers["GetRows"] = answer
    cursor = table.cursor(0)
    for position in range(1100):
        assert np.array_equal(cursor.next(), ROWS.read(position, 1)[0])
    assert failed.is_set()


def test_a_closed_client_connects_anew(server):
    client = phasor_tables.Client(server.address)
    table = client.open(SPEC)
    client.close()
    assert np.array_equal(table.gather([3]), ROWS.gather([3]))
    client.close()


def test_what_a_server_tells_of_itself(told):
    # Fields 1, 3, 8 and 9 of GetServerInfoResponse, by hand.
    told.answers["GetServerInfo"] = lambda request, context: (
        b"\x0a\x051.2.3" b"\x18\x80\x80\x01" b"\x40\x07" b"\x48\x02")
    with phasor_tables.Client(told.address) as client:
        info = client.server_info()
    assert (info.version, info.max_message_bytes) == ("1.2.3", 16384)
    assert (info.settled_elements, info.costly_elements) == (7, 2)
