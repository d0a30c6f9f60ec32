"""Where the broker is, how it is reached, and what to do where it is not."""

from __future__ import annotations

import os
import socket
import ssl
from dataclasses import dataclass
from typing import Literal

from paho.mqtt.reasoncodes import ReasonCode

from .errors import AccessDenied, ConnectionFailed, EngramError

#: Reason codes of MQTT 5 and 3.1.1 (as paho translates them) that no further attempt mends.
_REFUSED = {0x84, 0x85, 0x86, 0x87, 0x8A, 0x8C}


@dataclass(frozen=True, slots=True)
class TLS:
    """How the connection is encrypted.

    Without `ca_file` the system's authorities are trusted. `cert_file` and `key_file` prove who this client is.
    """

    ca_file: str | os.PathLike[str] | None = None
    cert_file: str | os.PathLike[str] | None = None
    key_file: str | os.PathLike[str] | None = None

    def context(self) -> ssl.SSLContext:
        """Returns what the `ssl` module makes of it.

        :raises OSError: if a file cannot be read.
        """
        context = ssl.create_default_context(cafile=self.ca_file)
        if self.cert_file is not None:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the broker is, and which robot is meant."""

    robot: str
    host: str = "localhost"
    port: int = 1883
    root: str = "engram"
    username: str | None = None
    password: str | None = None
    tls: ssl.SSLContext | None = None
    protocol: Literal["5", "3.1.1"] = "5"

    def topic(self, leaf: str) -> str:
        """Returns the topic of the robot with this ending."""
        return f"{self.root}/{self.robot}/{leaf}"


def refusal(code: ReasonCode, address: Address) -> EngramError:
    """Says why the broker refuses the connection, and what to do."""
    where, name = f"{address.host}:{address.port}", str(code)
    if code.value in (0x86, 0x87):
        hint = "check `username` and `password`" if address.username else "give `username` and `password`"
        return AccessDenied(f"the broker {where} refuses this client: {name}; {hint}")
    if code.value == 0x84:
        hint = "try protocol='3.1.1'" if address.protocol == "5" else "try protocol='5'"
        return AccessDenied(f"the broker {where} does not speak MQTT {address.protocol}; {hint}")
    kind = AccessDenied if code.value in _REFUSED else ConnectionFailed
    return kind(f"the broker {where} refuses the connection: {name}")


def connection_failure(error: BaseException | None, address: Address) -> EngramError:
    """Says why there is no connection, and what to do."""
    where = f"{address.host}:{address.port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message or str(error)
        # Codes 62 and 64 of OpenSSL: the certificate names another host, or another address.
        if error.verify_code in (62, 64):
            hint = "connect by a name that is in the certificate"
        else:
            hint = "name the authority that vouches for it: tls=TLS(ca_file=…)"
        return AccessDenied(f"the certificate of {where} is not trusted: {reason}; {hint}")
    if isinstance(error, ssl.SSLError):
        return ConnectionFailed(f"no encrypted connection to {where}: {error.reason or error}; is this the TLS port?")
    if isinstance(error, socket.gaierror):
        return ConnectionFailed(f"the host name `{address.host}` is not known; check `host`")
    if isinstance(error, ConnectionRefusedError):
        return ConnectionFailed(f"nobody listens on {where}; is the broker running, and are host and port right?")
    if isinstance(error, (TimeoutError, socket.timeout)):
        return ConnectionFailed(f"{where} does not answer; are host and port right, and is a firewall in between?")
    return ConnectionFailed(f"cannot connect to the broker {where}: {error}")
