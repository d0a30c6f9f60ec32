"""Connections that fail, break and come back."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from paho.mqtt.reasoncodes import ReasonCode
from stage import SOON, Agent, Broker, free_port, until

import engram
from engram import TLS, Memory, Observation
from engram._link import Link


def test_without_a_broker_a_request_fails_at_once(broker: Broker) -> None:
    begin = time.monotonic()
    with Memory("kitchen", port=free_port(), timeout=SOON) as memory:
        with pytest.raises(engram.ConnectionFailed, match="nobody listens on localhost:"):
            memory.ask("Where is the mug?")
        with pytest.raises(engram.ConnectionFailed, match="nobody listens"):
            memory.health()
        with pytest.raises(engram.ConnectionFailed, match="nobody listens"):
            memory.wait_until_online(0.1)
    assert time.monotonic() - begin < SOON / 2
    with Memory("kitchen", "no-such-host.invalid") as memory, pytest.raises(engram.ConnectionFailed, match="not known"):
        memory.ask("Where is the mug?")


def test_what_is_no_broker_is_told_by_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        with (
            Memory("kitchen", port=port, timeout=0.3) as memory,
            pytest.raises(engram.ConnectionFailed, match="within"),
        ):
            memory.ask("Where is the mug?")


def test_a_robot_that_nobody_serves_is_named(broker: Broker) -> None:
    with Memory("attic", port=broker.port, timeout=SOON) as memory:
        with pytest.raises(engram.AgentOffline, match=r"`attic`.*engram run --robot attic"):
            memory.ask("Where is the mug?")
        with pytest.raises(engram.AgentOffline):
            memory.observe("the mug is here")
        with pytest.raises(engram.AgentOffline):
            memory.health(timeout=0.2)


def test_an_agent_that_stops_and_starts_again_is_found_again(broker: Broker, hire: Callable[..., Agent]) -> None:
    agent = hire(broker).online()
    with agent.memory() as memory:
        memory.observe("The mug is on the shelf.")
        agent.stop()
        until("it said so", lambda: memory.status == "stopped")
        with pytest.raises(engram.AgentOffline, match="its last status is `stopped`"):
            memory.ask("Where is the mug?")
        # The broker keeps what is told for an agent that is away; the reply comes when it is back.
        receipts: list[engram.Receipt] = []
        told = Observation("The spoon is in the sink.")
        with pytest.raises(engram.AgentOffline, match="waits at the broker"):
            memory.observe(told, timeout=0.3)
        teller = threading.Thread(target=lambda: receipts.append(memory.observe("The fork is in the drawer.")))
        teller.start()
        agent.start()
        memory.wait_until_online(SOON)
        teller.join()
        assert receipts[0].accepted == 1
        assert memory.observe(told).duplicates == 1
        assert "shelf" in str(memory.ask("Where is the mug?"))
        assert "drawer" in str(memory.ask("Where is the fork?"))


def test_a_question_outlives_a_killed_agent(broker: Broker, hire: Callable[..., Agent]) -> None:
    agent = hire(broker, mqtt="keep_alive_s = 5").online()
    with agent.memory() as memory:
        memory.observe("The mug is on the shelf.")
        agent.freeze()
        answers: list[engram.Answer] = []
        failures: list[Exception] = []

        def compact() -> None:
            try:
                memory.compact()
            except engram.EngramError as error:
                failures.append(error)

        asker = threading.Thread(target=lambda: answers.append(memory.ask("Where is the mug?")))
        compacter = threading.Thread(target=compact)
        for thread in (asker, compacter):
            thread.start()
        until("both are sent", lambda: sum(one.acknowledged for one in memory._link._pending.values()) == 2)
        agent.stop(signal.SIGKILL)
        agent.start()
        asker.join()
        compacter.join()
        assert "shelf" in str(answers[0])
        assert isinstance(failures[0], engram.ConnectionFailed)
        assert "may have been done" in str(failures[0])


def test_what_was_told_before_a_timeout_counts_once(broker: Broker, hire: Callable[..., Agent]) -> None:
    agent = hire(broker).online()
    told = Observation("The mug is on the shelf.")
    with agent.memory() as memory:
        agent.freeze()
        with pytest.raises(engram.TimedOut, match="tell the same Observation again"):
            memory.observe(told, timeout=0.3)
        with pytest.raises(engram.TimedOut, match="may have been done"):
            memory.pause(timeout=1)
        agent.thaw()
        assert memory.observe(told).duplicates == 1


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_a_broker_that_restarts_is_found_again(broker: Broker, hire: Callable[..., Agent], protocol: str) -> None:
    agent = hire(broker).online()
    with agent.memory(protocol=protocol) as memory, memory.news("episode") as news:
        memory.observe("The mug is on the shelf.")
        assert news.get(SOON).type == "new"
        broker.stop()
        until("the loss is noticed", lambda: memory._link.unreachable() is not None)
        with pytest.raises(engram.ConnectionFailed):
            memory.ask("Where is the mug?", timeout=0.1)
        outcomes: list[object] = []

        def ask() -> None:
            try:
                outcomes.append(memory.ask("Where is the mug?").answer)
            except engram.AgentOffline as offline:  # This client was back at the broker before the agent was.
                outcomes.append(offline)

        asker = threading.Thread(target=ask)
        asker.start()
        broker.start()
        asker.join()
        assert outcomes
        memory.wait_until_online(SOON)
        assert "shelf" in str(memory.ask("Where is the mug?"))
        memory.observe("a bell", kind="sound", source="new ear")
        assert news.get(SOON).about == "episode"


def test_a_reply_that_comes_during_a_cut_is_delivered_after_it(broker: Broker, hire: Callable[..., Agent]) -> None:
    agent = hire(broker).online()
    with agent.memory() as memory:
        memory.observe("The mug is on the shelf.")
        agent.freeze()
        receipts: list[engram.Receipt] = []
        teller = threading.Thread(target=lambda: receipts.append(memory.observe("The fork is in the drawer.")))
        teller.start()
        until("it is sent", lambda: any(one.acknowledged for one in memory._link._pending.values()))
        cut = memory._link._paho.socket()
        assert isinstance(cut, socket.socket)
        cut.shutdown(socket.SHUT_RDWR)
        agent.thaw()
        teller.join()
        assert (receipts[0].accepted, receipts[0].duplicates) == (1, 0)


def test_a_broker_that_asks_for_a_password(tmp_path: Path, hire: Callable[..., Agent]) -> None:
    passwords = tmp_path / "passwords"
    passwords.touch()
    subprocess.run(["mosquitto_passwd", "-b", str(passwords), "robot", "secret"], check=True, capture_output=True)
    broker = Broker(tmp_path / "broker", f"password_file {passwords}", anonymous=False)
    try:
        agent = hire(broker, mqtt='username = "robot"\npassword = "secret"')
        agent.start()
        with agent.memory(username="robot", password="secret") as memory:
            memory.wait_until_online(SOON)
            assert memory.observe("The mug is on the shelf.").accepted == 1
            assert memory.forget_preview(entity="mug").events == 1
        with agent.memory() as memory, pytest.raises(engram.AccessDenied, match="give `username` and `password`"):
            memory.ask("Where is the mug?")
        with (
            agent.memory(username="robot", password="guess") as memory,
            pytest.raises(engram.AccessDenied, match="check `username`"),
        ):
            memory.ask("Where is the mug?")
    finally:
        broker.stop()


def test_a_topic_that_the_broker_keeps_from_this_client_is_named(tmp_path: Path) -> None:
    acl = tmp_path / "acl"
    acl.write_text("topic read engram/kitchen/#\n")
    broker = Broker(tmp_path / "broker", f"acl_file {acl}")
    denied = r"publish to engram/kitchen/ask; check its ACL"
    try:
        with (
            Memory("kitchen", port=broker.port, timeout=SOON) as memory,
            pytest.raises(engram.AccessDenied, match=denied),
        ):
            memory.ask("Where is the mug?")
    finally:
        broker.stop()


def openssl(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=SOON)


def certificate(folder: Path, name: str, subject: str, extensions: str, issuer: str | None = None) -> None:
    key = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        str(folder / f"{name}.key"),
    ]
    if issuer is None:
        extra = ["-addext", "keyUsage=critical,keyCertSign,cRLSign"]
        openssl(
            "req", "-x509", "-days", "2", "-subj", f"/CN={subject}", *extra, *key, "-out", str(folder / f"{name}.crt")
        )
        return
    openssl("req", "-subj", f"/CN={subject}", *key, "-out", str(folder / f"{name}.csr"))
    (folder / f"{name}.ext").write_text(f"basicConstraints=CA:FALSE\n{extensions}\n")
    authority = ["-CA", str(folder / f"{issuer}.crt"), "-CAkey", str(folder / f"{issuer}.key"), "-CAcreateserial"]
    openssl(
        *["x509", "-req", "-days", "2", "-in", str(folder / f"{name}.csr"), *authority],
        *["-extfile", str(folder / f"{name}.ext"), "-out", str(folder / f"{name}.crt")],
    )


# paho leaves the socket of a failed handshake to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_encrypted_connection_with_a_client_certificate(tmp_path: Path, hire: Callable[..., Agent]) -> None:
    certificate(tmp_path, "ca", "an authority", "")
    certificate(tmp_path, "other", "another authority", "")
    certificate(tmp_path, "server", "localhost", "subjectAltName=DNS:localhost", "ca")
    certificate(tmp_path, "client", "a client", "extendedKeyUsage=clientAuth", "ca")
    files = {name: tmp_path / name for name in ("ca.crt", "server.crt", "server.key", "client.crt", "client.key")}
    broker = Broker(
        tmp_path / "broker",
        f"cafile {files['ca.crt']}",
        f"certfile {files['server.crt']}",
        f"keyfile {files['server.key']}",
        "require_certificate true",
    )
    try:
        tls = f'[mqtt.tls]\nenabled = true\nca_file = "{files["ca.crt"]}"\n'
        tls += f'cert_file = "{files["client.crt"]}"\nkey_file = "{files["client.key"]}"'
        agent = hire(broker, mqtt=tls)
        agent.start()
        mine = TLS(files["ca.crt"], files["client.crt"], files["client.key"])
        with agent.memory(tls=mine) as memory:
            memory.wait_until_online(SOON)
            assert memory.observe("The mug is on the shelf.").accepted == 1
        wrong = TLS(tmp_path / "other.crt", files["client.crt"], files["client.key"])
        for tried, host, reason in (
            (wrong, "localhost", "name the authority"),
            (mine, "127.0.0.1", "by a name that is in the certificate"),
        ):
            with (
                Memory("kitchen", host, broker.port, tls=tried, timeout=SOON) as memory,
                pytest.raises(engram.AccessDenied, match=reason),
            ):
                memory.ask("Where is the mug?")
        with Memory("kitchen", port=broker.port, tls=TLS(files["ca.crt"]), timeout=1) as memory:  # noqa: SIM117
            with pytest.raises(engram.ConnectionFailed):
                memory.ask("Where is the mug?")
    finally:
        broker.stop()


def test_a_subscription_that_comes_while_it_connects_is_granted(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Between the first request for topics and its grant: too late for the one, too early to ask alone.
    reached, go_on = threading.Event(), threading.Event()
    granted = Link._granted

    def held(link: Link, topics: list[str], codes: list[ReasonCode]) -> None:
        reached.set()
        assert go_on.wait(SOON)
        granted(link, topics, codes)

    monkeypatch.setattr(Link, "_granted", held)
    with Memory("kitchen", port=broker.port, timeout=SOON) as memory:
        assert reached.wait(SOON)
        future = memory._link.subscribe("event/+")
        go_on.set()
        future.result(SOON)
