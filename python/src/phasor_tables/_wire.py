"""The protocol phasor.v1: requests made, responses read.

The messages are made from their descriptors in a pool of their own: they are
the same under every version of protobuf, and stay out of the way of other
modules generated from the same files.
"""

from __future__ import annotations

import pathlib
import struct
from typing import Any, NamedTuple, Optional

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from phasor_tables._elements import Array, dtype_of
from phasor_tables._library import CheckedSpec
from phasor_tables._structs import SCALINGS, SCHEMES
from phasor_tables.errors import (DataLoss, FailedPrecondition, FieldViolation, InvalidArgument,
                                  PhasorError, error_of, field_error)
from phasor_tables.specs import LearnedTable, Spec

SERVICE = "/phasor.v1.PositionTableService/"
CANCELLED, UNAVAILABLE = "CANCELLED", "UNAVAILABLE"
_INT64 = 1 << 64


def _load_pool() -> descriptor_pool.DescriptorPool:
    data = pathlib.Path(__file__).with_name("phasor.binpb").read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


_pool = _load_pool()
_factory: Any = message_factory
if hasattr(_factory, "GetMessageClass"):
    _class_of: Any = _factory.GetMessageClass
else:  # before protobuf 4.22
    _class_of = _factory.MessageFactory(_pool).GetPrototype


def message(name: str) -> Any:
    """The class of a message of phasor.v1."""
    return _class_of(_pool.FindMessageTypeByName("phasor.v1." + name))


_ErrorStatus = message("ErrorStatus")
_BadRequest = message("BadRequest")
_RetryInfo = message("RetryInfo")
_element_types = _pool.FindEnumTypeByName("phasor.v1.ElementType").values_by_name


def spec_message(canonical_text: str) -> Any:
    """A spec as a message, from its canonical text."""
    result = message("TableSpec")()
    for line in canonical_text.splitlines():
        path, _, value = line.partition("=")
        *parents, name = path.split(".")
        parent = result
        for step in parents:
            parent = getattr(parent, step)
        field = parent.DESCRIPTOR.fields_by_name[name]
        if value == "{}":
            getattr(parent, name).SetInParent()
        elif hasattr(getattr(parent, name), "extend"):  # repeated
            getattr(parent, name).extend(_scalar(field, item) for item in value.split(","))
        else:
            setattr(parent, name, _scalar(field, value))
    return result


def name_message(table: LearnedTable) -> Any:
    """Asks for the rows that a server holds under the name of a table now."""
    element_type = _element_types.get("ELEMENT_TYPE_" + str(table.element_type).upper())
    if element_type is None:
        raise field_error(InvalidArgument, "spec.element_type",
                          f"{table.element_type!r} is no known element type")
    if not isinstance(table.name, str):
        raise field_error(InvalidArgument, "spec.learned_table.name",
                          f"{table.name!r} is no text")
    return message("TableSpec")(learned_table={"name": table.name},
                                element_type=element_type.number)


def learned_table_of(asked: LearnedTable, response: Any) -> LearnedTable:
    """The rows that a GetTableResponse tells of, which are to be of that name and type."""
    sent = response.spec.learned_table
    if sent.name != asked.name:
        raise DataLoss(f"the server's response is not about the table {asked.name!r}")
    return LearnedTable(asked.name, asked.element_type, sent.content_sha256, sent.max_positions,
                        sent.width)


def _scalar(field: Any, text: str) -> Any:
    if field.type == field.TYPE_ENUM:
        return field.enum_type.values_by_name[text].number
    if field.type == field.TYPE_DOUBLE:
        return struct.unpack(">d", bytes.fromhex(text))[0]
    if field.type == field.TYPE_BOOL:
        return text == "true"
    if field.type == field.TYPE_STRING:
        return text
    return int(text)


def _plain(field: Any, value: Any) -> Any:
    # A value of a message as a caller writes it.
    if isinstance(value, Message):
        return {part.name: _plain(part, inner) for part, inner in value.ListFields()}
    if hasattr(value, "extend"):  # repeated
        return tuple(value)
    if field.type == field.TYPE_ENUM:  # without what the names of its values begin with
        names = field.enum_type.values_by_number
        prefix = names[0].name.removesuffix("UNSPECIFIED")
        return names[value].name.removeprefix(prefix).lower()
    return value


def spec_of(canonical_text: str) -> Spec:
    """A spec as a caller writes it, from its canonical text."""
    sent = _plain(None, spec_message(canonical_text))
    element_type = {"element_type": sent.pop("element_type")} if "element_type" in sent else {}
    (scheme, fields), = sent.items()
    for name in [name for name, value in fields.items() if isinstance(value, dict)]:
        inner = fields.pop(name)  # a ladder or a scaling, whose name says which
        if name in SCALINGS:
            fields["scaling"] = SCALINGS[name](**inner)
        else:
            fields.update(inner)
            if scheme == "sinusoidal":
                fields["ladder"] = name
    (kind,) = [kind for kind, (name, _, _) in SCHEMES.items() if name == scheme]
    result: Spec = kind(**fields, **element_type)
    return result


def check_same_table(spec: CheckedSpec, sent: Any, response: Any) -> None:
    """Raises unless a GetTableResponse is about the table of ``spec``."""
    if (response.fingerprint, response.row_width, response.row_bytes, response.spec) != (
            spec.fingerprint, spec.row_width, spec.row_bytes, sent):
        what = f"the server means another table by it: fingerprint {response.fingerprint!r}, " \
               f"rows of {response.row_width} elements, not {spec.fingerprint} and {spec.row_width}"
        raise FailedPrecondition(f"spec: {what}", [FieldViolation("spec", what)])


class _Head(NamedTuple):
    fingerprint: str
    start_position: Optional[int]
    row_count: int
    row_width: int
    element_type: int
    data_begin: int
    data_end: int


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise IndexError


def _skip(data: bytes, at: int, wire_type: int) -> int:
    if wire_type == 0:
        return _varint(data, at)[1]
    if wire_type == 2:
        length, at = _varint(data, at)
        return at + length
    return at + {1: 8, 5: 4}[wire_type]


def _read_head(data: bytes) -> _Head:
    # The rows are not parsed by protobuf, which would copy them.
    numbers = {2: None, 3: 0, 4: 0, 5: 0}
    fingerprint, begin, end = "", 0, 0
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag != 1 << 3 | 2:  # rows
            at = _skip(data, at, tag & 7)
            continue
        length, at = _varint(data, at)
        stop = at + length
        while at < stop:
            tag, at = _varint(data, at)
            field, wire_type = tag >> 3, tag & 7
            if wire_type == 0 and field in numbers:
                value, at = _varint(data, at)
                numbers[field] = value - _INT64 if value >= _INT64 // 2 else value
            elif wire_type == 2 and field in (1, 15):
                length, at = _varint(data, at)
                if field == 15:
                    begin, end = at, at + length
                else:
                    fingerprint = data[at:at + length].decode()
                at += length
            else:
                at = _skip(data, at, wire_type)
        if at != stop:
            raise IndexError
    if at != len(data):
        raise IndexError
    start, count, width, element_type = numbers.values()
    return _Head(fingerprint, start, count or 0, width or 0, element_type or 0, begin, end)


def decode_rows(data: bytes, spec: CheckedSpec, start: Optional[int],
                wanted: Optional[int] = None) -> Array:
    """The rows in a response, checked against what was asked: [n, row_width] over its memory.

    ``start`` is the position that the first of them has to have, ``wanted`` how
    many there have to be.
    """
    try:
        head = _read_head(data)
    except (IndexError, KeyError, ValueError):
        raise DataLoss("the server's response is not a message of rows") from None
    if head.fingerprint != spec.fingerprint:
        raise FailedPrecondition(f"the server sent rows of table {head.fingerprint!r}, "
                                 f"not of {spec.fingerprint}")
    name = "ELEMENT_TYPE_" + spec.element_type.upper()
    if head.row_width != spec.row_width or head.element_type != _element_types[name].number:
        raise DataLoss(f"the server's response has rows of {head.row_width} elements of type "
                       f"{head.element_type}, not {spec.row_width} of {spec.element_type}")
    if start is not None and head.start_position != start:
        raise DataLoss(f"the server's response starts at position {head.start_position}, "
                       f"not {start}")
    if head.data_end - head.data_begin != head.row_count * spec.row_bytes:
        raise DataLoss(f"the server's response has row_count {head.row_count} and "
                       f"{head.data_end - head.data_begin} bytes of rows of {spec.row_bytes}")
    if wanted is not None and head.row_count != wanted:
        raise DataLoss(f"the server sent {head.row_count} rows of {wanted}")
    return np.frombuffer(data, dtype_of(spec.element_type), head.row_count * spec.row_width,
                         head.data_begin).reshape(head.row_count, spec.row_width)


class Failure(Exception):
    """A call that failed, as gRPC says it."""

    def __init__(self, code: str, text: str, trailers: Any) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.pushback: Optional[float] = None
        """Least delay before the next try, in seconds; negative: there shall be none."""
        self.progress = False
        """Whether the call got on, so that the next try is the first again."""
        self.violations: list[FieldViolation] = []
        if code == CANCELLED:  # nobody here cancels: the server does, when it ends
            self.code, self.text = UNAVAILABLE, "the server ended the call"
        pushback = None
        for key, value in trailers or ():
            if key == "grpc-status-details-bin":
                self._take_details(value)
            elif key == "grpc-retry-pushback-ms":
                try:
                    pushback = int(value) / 1000
                except ValueError:  # as a negative one
                    pushback = -1.0
        if pushback is not None:
            self.pushback = pushback

    def _take_details(self, data: bytes) -> None:
        try:
            for detail in _ErrorStatus.FromString(data).details:
                if detail.type_url == "type.googleapis.com/google.rpc.BadRequest":
                    self.violations += [
                        FieldViolation(violation.field, violation.description)
                        for violation in _BadRequest.FromString(detail.value).field_violations]
                elif detail.type_url == "type.googleapis.com/google.rpc.RetryInfo":
                    delay = _RetryInfo.FromString(detail.value).retry_delay
                    self.pushback = delay.seconds + delay.nanos / 1e9
        except Exception:  # what is no such message says nothing
            pass

    def error(self) -> PhasorError:
        """As an exception of this package."""
        return error_of(self.code, self.text, self.violations)
