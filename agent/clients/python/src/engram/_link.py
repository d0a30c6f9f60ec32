"""The connection to the broker: one paho client and its thread, requests that wait for replies, and listeners.

Both `Memory` and `AsyncMemory` stand on it. Everything public here may be called from any thread.

A request is a message with a correlation id; its reply comes to the inbox of this connection. With MQTT 5 the broker
keeps the session for `SESSION_S` seconds, so that replies which come during a short cut are delivered after it. Where
the session is gone, or the agent restarted, requests that may be repeated are sent again; the others fail.
Of many questions at once a few are at the agent, and the others wait for their turn here: the agent refuses more than
it can answer soon.
"""

from __future__ import annotations

import functools
import itertools
import json
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from ._address import Address, connection_failure, refusal
from ._pending import Acknowledgements, Pending, settle
from .errors import AccessDenied, AgentOffline, Closed, ConnectionFailed, EngramError, TimedOut

#: How long the broker keeps the session of a connection that was cut.
SESSION_S = 300
_NOBODY_LISTENS = 0x10
_QUESTION = "ask"
#: What a broker may say of a topic that this client may not publish to.
_NOT_ALLOWED = {0x83, 0x87}
_LONGEST_PAUSE_S = 5
#: How many questions of one connection are at the agent, which refuses more than 32 and may work on abandoned ones.
_QUESTIONS_AT_ONCE = 16

T = TypeVar("T")
Listener = Callable[[str, bytes], None]


class Link:
    """A connection that comes back by itself."""

    def __init__(self, address: Address, *, keepalive: int = 15) -> None:
        self.address = address
        self._nonce = f"py-{os.getpid()}-{os.urandom(6).hex()}"
        self.inbox = address.topic(f"answer/{self._nonce}")
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._pending: dict[str, Pending] = {}
        self._publications, self._subscriptions = Acknowledgements(), Acknowledgements()
        self._filters: dict[str, Future[None]] = {}
        self._listeners: dict[int, tuple[str, Listener]] = {}
        self._retained: dict[str, bytes] = {}
        self._changed = threading.Condition(self._lock)
        #: Called after every change of what is retained, and at the end.
        self._watchers: set[Callable[[], None]] = set()
        self._connected = False
        self._ever_connected = False
        self._resumed = False
        #: Topics that this connection has asked for.
        self._requested: set[str] = set()
        self._failure: EngramError | None = None
        self._closed = False
        self._filters[address.topic("status")] = Future()
        self._filters[self.inbox] = Future()
        self._paho = self._make_client(keepalive)
        # Its thread calls this object back: only now is it whole.
        self._paho.loop_start()

    # Setting up and taking down.

    def _make_client(self, keepalive: int) -> paho.Client:
        address, five = self.address, self.address.protocol == "5"
        client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=f"engram-{self._nonce}",
            clean_session=None if five else True,
            protocol=paho.MQTTv5 if five else paho.MQTTv311,
        )
        if address.username is not None:
            client.username_pw_set(address.username, address.password)
        if address.tls is not None:
            client.tls_set_context(address.tls)
        # It doubles from attempt to attempt. paho takes fractions, its types do not say so.
        client.reconnect_delay_set(min_delay=0.25, max_delay=_LONGEST_PAUSE_S)  # type: ignore[arg-type]
        # Each callback logs its own faults; none may end paho's thread.
        client.suppress_exceptions = True
        client.on_connect = _guarded(self._on_connect)
        client.on_connect_fail = _guarded(self._on_connect_fail)
        client.on_disconnect = _guarded(self._on_disconnect)
        client.on_message = _guarded(self._on_message)
        client.on_publish = _guarded(lambda _c, _u, mid, code, _p: self._publications.arrive(mid, [code]))
        client.on_subscribe = _guarded(lambda _c, _u, mid, codes, _p: self._subscriptions.arrive(mid, codes))
        client.on_socket_open = _send_at_once
        if five:
            properties = _properties(PacketTypes.CONNECT)
            properties.SessionExpiryInterval = SESSION_S
            client.connect_async(address.host, address.port, keepalive, properties=properties)
        else:
            client.connect_async(address.host, address.port, keepalive)
        return client

    def close(self) -> None:
        """Takes leave of the broker. Whatever waits for a reply fails."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            waiting = list(self._pending.values())
            self._pending.clear()
            self._changed.notify_all()
            watchers = list(self._watchers)
            filters = list(self._filters.values())
        for pending in waiting:
            pending.finish(Closed("the memory was closed before the reply came"))
        for watcher in watchers:
            watcher()
        for future in filters:
            settle(future, Closed("the memory was closed"))
        if self.address.protocol == "5":
            properties = _properties(PacketTypes.DISCONNECT)
            # Nobody comes back for this session.
            properties.SessionExpiryInterval = 0
            self._paho.disconnect(properties=properties)
        else:
            self._paho.disconnect()
        self._paho.loop_stop()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    # Requests.

    def send(self, leaf: str, body: Any, *, repeatable: bool, expiry_s: int | None = None) -> Pending:
        """Sends a request, once there is a connection. `body` is JSON, or bytes that are JSON already."""
        payload = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        pending = Pending(leaf, payload, repeatable, expiry_s)
        with self._lock:
            if self._closed:
                raise Closed("this memory is closed; make a new one")
            self._check_hope()
            pending.id = str(next(self._numbers))
            if self.address.protocol == "3.1.1":
                pending.payload = self._with_way_back(pending)
            self._pending[pending.id] = pending
            ready = self._connected
        if ready:
            self._publish(pending)
        return pending

    def tell(self, leaf: str, body: Mapping[str, Any]) -> bool:
        """Publishes a message that nobody answers. Returns whether there is a connection to send it on."""
        with self._lock:
            if self._closed:
                raise Closed("this memory is closed; make a new one")
            self._check_hope()
            if not self._connected:
                return False
        payload = json.dumps(body, ensure_ascii=False).encode()
        return self._paho.publish(self.address.topic(leaf), payload, qos=0).rc == paho.MQTT_ERR_SUCCESS

    def _check_hope(self) -> None:
        """Raises why there is no connection, unless there was one before that may come back."""
        if self._failure is not None and (not self._ever_connected or isinstance(self._failure, AccessDenied)):
            raise _again(self._failure)

    def _with_way_back(self, pending: Pending) -> bytes:
        body = json.loads(pending.payload)
        if isinstance(body, list):
            body = {"observations": body}
        return json.dumps({**body, "request_id": pending.id, "reply_to": self.inbox}, ensure_ascii=False).encode()

    def _publish(self, pending: Pending, again: bool = False) -> None:
        with self._lock:
            if pending.published and not again:
                return
            if not pending.published and not self._has_turn(pending):
                return
            pending.published, pending.acknowledged = True, False
        properties = None
        if self.address.protocol == "5":
            properties = _properties(PacketTypes.PUBLISH)
            properties.ResponseTopic = self.inbox
            properties.CorrelationData = pending.id.encode()
            if pending.expiry_s is not None:
                properties.MessageExpiryInterval = pending.expiry_s
        topic = self.address.topic(pending.leaf)
        info = self._paho.publish(topic, pending.payload, qos=1, properties=properties)
        self._publications.expect(info.mid, lambda codes: self._acknowledged(pending, topic, codes))

    def _has_turn(self, pending: Pending) -> bool:
        at_the_agent = sum(one.published and one.leaf == _QUESTION for one in self._pending.values())
        return pending.leaf != _QUESTION or at_the_agent < _QUESTIONS_AT_ONCE

    def _remove(self, pending: Pending) -> None:
        """Gives the place of a request that has ended to the question that has waited longest."""
        with self._lock:
            removed = self._pending.pop(pending.id, None)
            if removed is None or removed.leaf != _QUESTION or not self._connected:
                return
            waiting = (one for one in self._pending.values() if not one.published and one.leaf == _QUESTION)
            following = next(waiting, None)
        if following is not None:
            self._publish(following)

    def _acknowledged(self, pending: Pending, topic: str, codes: list[ReasonCode]) -> None:
        pending.acknowledged = True
        code = codes[0].value if codes else 0
        if code == _NOBODY_LISTENS:
            self._finish(pending, self._nobody())
        elif code in _NOT_ALLOWED:
            self._finish(
                pending, AccessDenied(f"the broker does not let this client publish to {topic}; check its ACL")
            )
        elif code >= 0x80:
            self._finish(pending, ConnectionFailed(f"the broker did not take a message to {topic}: {codes[0]}"))

    def _finish(self, pending: Pending, result: Mapping[str, Any] | EngramError) -> None:
        self._remove(pending)
        pending.finish(result)

    def abandon(self, pending: Pending) -> None:
        """Forgets a request that nobody waits for any more."""
        self._remove(pending)

    def overdue(self, pending: Pending, waited_s: float) -> EngramError:
        """Ends a request whose time is over; returns why it got no reply."""
        self.abandon(pending)
        with self._lock:
            failure, connected, status = self._failure, self._connected, self._retained.get("status")
        waited = f"within {waited_s:g} s"
        if failure is not None and not connected:
            return _again(failure)
        if not connected:
            return ConnectionFailed(f"no connection to the broker {self._where()} {waited}")
        away = self.address.protocol == "3.1.1" if status is None else status != b"online"
        if away:
            kept = "; what was told waits at the broker until then" if pending.leaf == "observe" else ""
            return AgentOffline(f"{self._nobody()}{kept}")
        if pending.leaf == "observe":
            hint = "; it may be remembered all the same: tell the same Observation again, it counts once"
        elif pending.repeatable:
            hint = "; allow more time with `timeout`"
        else:
            hint = "; it may have been done all the same"
        return TimedOut(f"no reply from the robot `{self.address.robot}` to `{pending.leaf}` {waited}{hint}")

    def _nobody(self) -> AgentOffline:
        with self._lock:
            status = self._retained.get("status")
        said = "" if status is None else f" (its last status is `{status.decode(errors='replace')[:32]}`)"
        return AgentOffline(
            f"no engram serves the robot `{self.address.robot}` on the broker {self._where()}{said}; start it with "
            f"`engram run --robot {self.address.robot}`, or name another robot"
        )

    def _where(self) -> str:
        return f"{self.address.host}:{self.address.port}"

    # Listening.

    def subscribe(self, leaf: str) -> Future[None]:
        """Subscribes to a topic of the robot; the future is done once the broker has granted it."""
        topic = self.address.topic(leaf)
        with self._lock:
            if self._closed:
                raise Closed("this memory is closed; make a new one")
            known = self._filters.get(topic)
            if known is not None and known.done():
                return known
            self._check_hope()
            if known is not None:
                return known
            future = self._filters[topic] = Future()
            connected = self._connected
        if connected:
            self._request_topics([topic])
        return future

    def _request_topics(self, topics: list[str]) -> None:
        _, mid = self._paho.subscribe([(topic, 1) for topic in topics])
        if mid is not None:
            self._subscriptions.expect(mid, lambda codes: self._granted(topics, codes))

    def _granted(self, topics: list[str], codes: list[ReasonCode]) -> None:
        for topic, code in zip(topics, codes, strict=False):
            with self._lock:
                future = self._filters.get(topic)
            if code.value < 0x80:
                if future is not None:
                    settle(future, None)
                continue
            denied = AccessDenied(f"the broker does not let this client subscribe to {topic}; check its ACL")
            if future is not None:
                settle(future, denied)
            if topic == self.inbox:
                self._fail_all(denied)
                return
        if self.inbox in topics:
            self._now_ready()

    def listen(self, prefix: str, listener: Listener) -> Callable[[], None]:
        """Calls `listener` with the rest of the topic and the payload of what comes below `prefix`, on paho's thread.

        Returns what ends it.
        """
        with self._lock:
            number = next(self._numbers)
            self._listeners[number] = (self.address.topic(prefix), listener)

        def end() -> None:
            with self._lock:
                self._listeners.pop(number, None)

        return end

    def retained(self, leaf: str) -> bytes | None:
        """Returns the last message of `status`, `health`, `recording` or `instance`, if one has come."""
        with self._lock:
            return self._retained.get(leaf)

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Calls `watcher` after every change of what is retained, on paho's thread. Returns what ends it."""
        with self._lock:
            self._watchers.add(watcher)

        def end() -> None:
            with self._lock:
                self._watchers.discard(watcher)

        return end

    def wait_for(self, condition: Callable[[], bool], timeout: float | None) -> bool:
        """Waits until `condition` holds, looking again after every change; false if the time is over before."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed or condition(), timeout) and not self._closed

    def unreachable(self) -> EngramError | None:
        """Returns why there is no connection, if there is none."""
        with self._lock:
            return None if self._connected else self._failure

    def offline(self) -> EngramError:
        """Returns why no agent is there."""
        return self.unreachable() or self._nobody()

    # Callbacks, on paho's thread.

    def _on_connect(self, _client: paho.Client, _data: Any, flags: Any, code: ReasonCode, _properties: Any) -> None:
        if code.is_failure:
            self._fail_all(refusal(code, self.address))
            return
        with self._lock:
            self._failure = None
            self._resumed, self._ever_connected = flags.session_present, True
            if not self._resumed:
                # The broker tells anew what it keeps, and may have lost it.
                self._retained.clear()
            # Requests of the connection before are not answered any more.
            self._subscriptions.clear()
            topics = list(self._filters)
            self._requested = set(topics)
        self._request_topics(topics)

    def _now_ready(self) -> None:
        """Sends what waits. Of what was sent before, the broker forgot the way back unless it resumed the session."""
        with self._lock:
            if self._closed:
                return
            self._connected = True
            # Who subscribed since the connection was made was too late for the first request, and too early to ask.
            late = [topic for topic in self._filters if topic not in self._requested]
            waiting = [pending for pending in self._pending.values() if not pending.published]
            lost = [] if self._resumed else [pending for pending in self._pending.values() if pending.acknowledged]
            self._changed.notify_all()
        if late:
            self._request_topics(late)
        for pending in lost:
            self._again_or_fail(pending, "the connection to the broker was lost before the reply came")
        for pending in waiting:
            self._publish(pending)

    def _again_or_fail(self, pending: Pending, why: str) -> None:
        if pending.repeatable:
            self._publish(pending, again=True)
        else:
            self._finish(pending, ConnectionFailed(f"{why}; `{pending.leaf}` may have been done all the same"))

    def _on_connect_fail(self, _client: paho.Client, _data: Any) -> None:
        # paho calls this while it handles the exception, and passes it no other way.
        self._fail_all(connection_failure(sys.exc_info()[1], self.address))

    def _fail_all(self, failure: EngramError) -> None:
        """Notes why there is no connection. Requests fail with it, unless there was one before that may come back."""
        with self._lock:
            self._failure, self._connected = failure, False
            hopeless = not self._ever_connected or isinstance(failure, AccessDenied)
            waiting = list(self._pending.values()) if hopeless else []
            topics = list(self._filters.values()) if hopeless else []
            for pending in waiting:
                self._pending.pop(pending.id, None)
            self._changed.notify_all()
            watchers = list(self._watchers)
        for pending in waiting:
            pending.finish(_again(failure))
        for future in topics:
            if future.done():
                continue
            # Whoever waits now hears of it; a later connection asks the broker again.
            with self._lock:
                topic = next(topic for topic, known in self._filters.items() if known is future)
                self._filters[topic] = Future()
            settle(future, _again(failure))
        for watcher in watchers:
            watcher()

    def _on_disconnect(self, _client: paho.Client, _data: Any, _flags: Any, code: ReasonCode, _properties: Any) -> None:
        with self._lock:
            if self._connected:
                reason = f": {code}" if code.is_failure and str(code) != "Unspecified error" else ""
                self._failure = ConnectionFailed(f"the connection to the broker {self._where()} was lost{reason}")
            self._connected = False
            self._changed.notify_all()

    def _on_message(self, _client: paho.Client, _data: Any, message: paho.MQTTMessage) -> None:
        topic, payload = message.topic, bytes(message.payload)
        if topic == self.inbox:
            self._on_reply(message, payload)
            return
        prefix = self.address.topic("")
        leaf = topic.removeprefix(prefix)
        if leaf in ("status", "health", "recording", "instance"):
            self._on_retained(leaf, payload)
        with self._lock:
            listeners = [
                (topic.removeprefix(start), listener)
                for start, listener in self._listeners.values()
                if topic.startswith(start)
            ]
        for rest, listener in listeners:
            listener(rest, payload)

    def _on_reply(self, message: paho.MQTTMessage, payload: bytes) -> None:
        try:
            body = json.loads(payload)
        except ValueError:
            return
        if not isinstance(body, dict):
            return
        correlation = getattr(message.properties, "CorrelationData", None) if message.properties else None
        number = correlation.decode(errors="replace") if correlation else str(body.get("request_id", ""))
        with self._lock:
            pending = self._pending.get(number)
        if pending is None:
            return
        if body.get("state") == "executing":
            settle(pending.begun, None)
            return
        self._finish(pending, body)

    def _on_retained(self, leaf: str, payload: bytes) -> None:
        with self._lock:
            before = self._retained.get(leaf)
            self._retained[leaf] = payload
            came = leaf == "status" and payload == b"online" and before != b"online"
            # An agent that was away has missed the questions of before; what was told is kept for it by the broker.
            # The first status of a connection says less: what came before it may be under way, and is only repeated.
            lost = [
                one
                for one in self._pending.values()
                if came and one.acknowledged and one.leaf != "observe" and (one.repeatable or before is not None)
            ]
            self._changed.notify_all()
            watchers = list(self._watchers)
        for pending in lost:
            self._again_or_fail(pending, "the agent restarted before the reply came")
        for watcher in watchers:
            watcher()


def _guarded(callback: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(callback)
    def call(*arguments: Any) -> None:
        try:
            callback(*arguments)
        except Exception:
            logging.getLogger("engram").exception("a fault of the engram package; please report it")

    return call


def _properties(packet: int) -> Properties:
    return Properties(packet)  # type: ignore[no-untyped-call]


def _again(failure: EngramError) -> EngramError:
    """Returns a copy: an exception that is raised twice drags its first traceback along."""
    return type(failure)(*failure.args)


def _send_at_once(_client: paho.Client, _data: Any, opened: Any) -> None:
    """Switches delayed sending off: a small request and its reply would cost 40 to 90 ms."""
    if isinstance(opened, socket.socket):
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
