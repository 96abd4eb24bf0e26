"""Blocking calls over grpcio."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref
from typing import Any, AsyncGenerator, Callable, Optional, TypeVar

import grpc

from phasor_tables._wire import CANCELLED, SERVICE, UNAVAILABLE, Failure
from phasor_tables.errors import InvalidArgument, field_error

T = TypeVar("T")

CHANNEL_OPTIONS: tuple[tuple[str, Any], ...] = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.lb_policy_name", "round_robin"),
    # Nearly twice the throughput of gRPC's defaults for long ranges.
    ("grpc.http2.max_frame_size", 4 << 20),
    ("grpc.http2.lookahead_bytes", 16 << 20),
    ("grpc.http2.bdp_probe", 0),
    # A proxy of the environment is for web pages, not for a service next door.
    ("grpc.enable_http_proxy", 0),
    # Calls are retried here; both at once would multiply.
    ("grpc.enable_retries", 0),
    ("grpc.service_config_disable_resolution", 1),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # A server that moved is found within a second of a failure, not thirty.
    ("grpc.dns_min_time_between_resolutions_ms", 1000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    # A forked process must not find its parent's connections.
    ("grpc.use_local_subchannel_pool", 1),
)


def target_of(address: str) -> str:
    """gRPC's name for ``address``, checked."""
    if not isinstance(address, str) or not address or any(c.isspace() for c in address):
        raise field_error(InvalidArgument, "address",
                          f"{address!r} is no address; write dns:///name:port or unix:PATH")
    listed = "," in address and "/" not in address and ":" in address
    return f"ipv4:{address}" if listed and address[0].isdigit() else address


def options_of(credentials: Any, options: Any) -> tuple[tuple[str, Any], ...]:
    """gRPC's options for a channel, checked with the credentials."""
    if credentials is not None and not isinstance(credentials, grpc.ChannelCredentials):
        raise field_error(InvalidArgument, "credentials", f"is a {type(credentials).__name__}; give "
                          "what grpc.ssl_channel_credentials makes")
    try:
        more = tuple((name, value) for name, value in options)
    except (TypeError, ValueError):
        raise field_error(InvalidArgument, "channel_options",
                          f"{options!r} is no list of pairs, name and value") from None
    return CHANNEL_OPTIONS + more


def failure_of(error: grpc.RpcError) -> Failure:
    """What a call of grpcio's raised."""
    call: Any = error
    return Failure(call.code().name, call.details() or "", call.trailing_metadata())


class _ForkGate:
    """Keeps calls and forks apart: a fork waits for calls under way, and new ones for it.

    gRPC's threads are not in a forked process, and what they were at is in
    whatever state they left it.
    """

    _LONGEST_WAIT = 5.0

    def __init__(self, lost: bool = False) -> None:
        self._state = threading.Condition()
        self._calls = 0
        self._forking = False
        self._lost = lost
        self._child_lost = lost

    def check(self) -> None:
        """Raises Failure where calls would hang."""
        if self._lost:
            raise Failure(UNAVAILABLE, "this process was forked while an asyncio client of "
                          "gRPC's was connected; close that before, or start processes otherwise",
                          (("grpc-retry-pushback-ms", "-1"),))

    def enter(self) -> None:
        """Begins a call."""
        self.check()
        with self._state:
            while self._forking:
                self._state.wait()
            self._calls += 1

    def leave(self) -> None:
        """Ends a call."""
        with self._state:
            self._calls -= 1
            if self._calls == 0:
                self._state.notify_all()

    def close(self) -> None:
        """Before a fork."""
        with self._state:
            self._forking = True
            self._state.wait_for(lambda: self._calls == 0, self._LONGEST_WAIT)
        self._child_lost = self._lost or _asyncio_polls()

    def after_fork(self) -> _ForkGate:
        """The gate of the forked process."""
        return _ForkGate(self._child_lost)

    def open(self) -> None:
        """After it, in the parent."""
        with self._state:
            self._forking = False
            self._state.notify_all()


_gate = _ForkGate()


def _asyncio_polls() -> bool:
    """Whether the thread of grpc.aio runs, on which gRPC then relies, and which no fork takes along."""
    def runs() -> bool:
        return any("_poll_wrapper" in thread.name for thread in threading.enumerate())

    if runs():
        gc.collect()  # channels that are closed: it ends with the last one
    return runs()


def check_process() -> None:
    """Raises Failure in a process in which gRPC's calls would hang."""
    _gate.check()


class _Started:
    def __init__(self, future: Any) -> None:
        self._future = future

    async def result(self) -> bytes:
        try:
            return self._future.result()  # type: ignore[no-any-return]
        except grpc.RpcError as error:
            raise failure_of(error) from None
        except grpc.FutureCancelledError:
            raise Failure(CANCELLED, "", ()) from None

    def done(self) -> bool:
        return self._future.done()  # type: ignore[no-any-return]


class ChannelTransport:
    """Calls that block. The channel is made when first used, anew in a forked process."""

    def __init__(self, address: str, credentials: Optional[grpc.ChannelCredentials],
                 options: tuple[tuple[str, Any], ...]) -> None:
        self._target = target_of(address)
        self._credentials = credentials
        self._options = options_of(credentials, options)
        self._reset()
        _transports.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._channel: Any = None
        self._methods: dict[tuple[str, bool], Any] = {}

    def _method(self, name: str, stream: bool = False) -> Any:
        method = self._methods.get((name, stream))
        if method is not None:
            return method
        with self._lock:
            if self._channel is None:
                if self._credentials is None:
                    self._channel = grpc.insecure_channel(self._target, self._options)
                else:
                    self._channel = grpc.secure_channel(self._target, self._credentials,
                                                        self._options)
            make = self._channel.unary_stream if stream else self._channel.unary_unary
            method = self._methods[name, stream] = make(SERVICE + name)
            return method

    async def unary(self, method: str, request: bytes, timeout: float, metadata: Any) -> bytes:
        _gate.enter()
        try:
            return self._method(method)(  # type: ignore[no-any-return]
                request, timeout=timeout, metadata=metadata)
        except grpc.RpcError as error:
            raise failure_of(error) from None
        finally:
            _gate.leave()

    async def stream(self, method: str, request: bytes, timeout: float,
                     metadata: Any) -> AsyncGenerator[bytes, None]:
        _gate.enter()
        try:
            call = self._method(method, True)(request, timeout=timeout, metadata=metadata)
            try:
                for message in call:
                    yield message
            finally:
                call.cancel()
        except grpc.RpcError as error:
            raise failure_of(error) from None
        finally:
            _gate.leave()

    def start(self, method: str, request: bytes, timeout: float, metadata: Any,
              done: Callable[[Optional[bytes]], None]) -> _Started:
        _gate.enter()
        try:
            future = self._method(method).future(request, timeout=timeout, metadata=metadata)
        except BaseException:
            _gate.leave()
            raise

        def finish(ended: Any) -> None:
            _gate.leave()
            failed = ended.cancelled() or ended.code() is not grpc.StatusCode.OK
            done(None if failed else ended.result())

        future.add_done_callback(finish)
        return _Started(future)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def compute(self, work: Callable[[], T]) -> T:
        return work()

    def close(self) -> None:
        with self._lock:
            channel, self._channel, self._methods = self._channel, None, {}
        if channel is not None:
            channel.close()

    def abandon(self) -> None:
        """After a fork: the parent's channel is not this process's to use or to close."""
        if self._channel is not None:
            _of_the_parent.append((self._channel, self._methods))
        self._reset()


_transports: weakref.WeakSet[ChannelTransport] = weakref.WeakSet()
_of_the_parent: list[Any] = []


def _after_fork() -> None:
    global _gate
    _gate = _gate.after_fork()
    for transport in list(_transports):
        transport.abandon()


os.register_at_fork(before=lambda: _gate.close(), after_in_parent=lambda: _gate.open(),
                    after_in_child=_after_fork)
