"""What goes wrong, as exceptions.

Every error of this package is a :class:`PhasorError`; those about an argument
name it in ``field``, as the protocol writes it, and say in the message what
is wrong, the value, and the way out. Errors of a server carry its field
violations. Only :class:`Unavailable` and :class:`DeadlineExceeded` may pass by
calling again later.
"""

from __future__ import annotations

from typing import Dict, NamedTuple, Optional, Sequence, Tuple, Type


class FieldViolation(NamedTuple):
    """One argument that was wrong."""

    field: str
    """Its path, for instance ``spec.sinusoidal.width`` or ``positions[7]``."""
    description: str
    """What is wrong with it: the value and the way out."""


class PhasorError(Exception):
    """An error of Phasor's; its subclasses say of which kind."""

    code: str = "UNKNOWN"
    """gRPC's name of the kind, for instance ``INVALID_ARGUMENT``."""

    def __init__(self, message: str, violations: Sequence[FieldViolation] = (),
                 code: Optional[str] = None) -> None:
        super().__init__(message)
        self.violations: Tuple[FieldViolation, ...] = tuple(violations)
        if code is not None:
            self.code = code

    @property
    def field(self) -> str:
        """Path of the argument that was wrong; empty if the error names none."""
        return self.violations[0].field if self.violations else ""


class InvalidArgument(PhasorError, ValueError):
    """An argument is wrong: mend the call."""

    code = "INVALID_ARGUMENT"


class OutOfRange(PhasorError, IndexError):
    """A row that does not exist, or a value that does not fit the element type."""

    code = "OUT_OF_RANGE"


class NotFound(PhasorError, LookupError):
    """A name that the server does not know."""

    code = "NOT_FOUND"


class FailedPrecondition(PhasorError):
    """The server's table is not, or no longer, the one that was opened: open it again."""

    code = "FAILED_PRECONDITION"


class ResourceExhausted(PhasorError):
    """More than memory, or than one message, holds: ask for less."""

    code = "RESOURCE_EXHAUSTED"


class Unavailable(PhasorError, ConnectionError):
    """No server, or an overloaded one, until the timeout ended: call again later."""

    code = "UNAVAILABLE"


class DeadlineExceeded(PhasorError, TimeoutError):
    """The timeout ended while the server was at work: call again later."""

    code = "DEADLINE_EXCEEDED"


class DataLoss(PhasorError):
    """The server sent something that is not what was asked for."""

    code = "DATA_LOSS"


_BY_CODE: Dict[str, Type[PhasorError]] = {
    kind.code: kind
    for kind in (InvalidArgument, OutOfRange, NotFound, FailedPrecondition, ResourceExhausted,
                 Unavailable, DeadlineExceeded, DataLoss)
}


def error_of(code: str, message: str, violations: Sequence[FieldViolation] = ()) -> PhasorError:
    """The exception for a code of gRPC's."""
    return _BY_CODE.get(code, PhasorError)(message, violations, code)


def field_error(kind: Type[PhasorError], field: str, what: str) -> PhasorError:
    """An error about one argument; the message becomes ``<field>: <what>``."""
    return kind(f"{field}: {what}", [FieldViolation(field, what)])
