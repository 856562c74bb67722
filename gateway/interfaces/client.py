"""Client of the gateway's control socket; it needs no SDK and no event loop.

It writes HTTP itself: importing `http.client` would take a third of the time that a list takes.
"""

import json
import re
import socket
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agent_core.state.engine.remedies import refuse_lost
from gateway.errors import Declined, Mistaken, StartError
from gateway.home import CONTROL_SOCKET, DATABASE
from gateway.interfaces.waiting import showing
from gateway.operations.wire import dump, load

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from gateway.app.settings import Settings

_Answer = TypeVar("_Answer", bound="DataclassInstance")
PATIENCE = 30.0
"""Seconds to wait for the gateway's answer; backing up a large database may take longer."""
_CONNECT = 2.0
_PIECE = 65_536
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d) ")


class NoGateway(Exception):
    """No gateway serves this home directory."""


def fetch_health(home: Path, *, timeout: float) -> tuple[bool, dict[str, Any]]:
    """Return whether the gateway is healthy, and its health report.

    Raises `NoGateway` and `StartError`.
    """
    status, report = _request(home, "GET", "/health", "", timeout)
    return status == HTTPStatus.OK, report


def is_served(home: Path) -> bool:
    """Return whether a gateway serves a home, even if it is too busy to answer."""
    try:
        fetch_health(home, timeout=_CONNECT)
    except NoGateway:
        return False
    except StartError:
        return True
    return True


def ask(
    home: Path, operation: str, asked: dict[str, Any], *, timeout: float = PATIENCE
) -> dict[str, Any]:
    """Let the running gateway perform an operation; see `gateway.operations.registry`.

    Raises `NoGateway`, `Declined` or `Mistaken` with the gateway's sentence, and `StartError` if it
    does not answer within `timeout` seconds.
    """
    return _post(home, f"/control/{operation}", asked, timeout)


def perform(
    home: Path,
    operation: str,
    asked: dict[str, Any],
    *,
    timeout: float = PATIENCE,
    load_settings: "Callable[[], Settings] | None" = None,
) -> dict[str, Any]:
    """Perform an operation in the gateway of a home, or here on its database if none is running.

    `load_settings` loads the home's settings, for operations that need them here. Raises
    `Declined`, `StartError`, and `StoreError` if the database can't be opened.
    """
    try:
        return ask(home, operation, asked, timeout=timeout)
    except NoGateway:
        require_database(home)
    with showing("No gateway is running. Opening the database"):
        from gateway.interfaces.direct import perform_here

        return dict(perform_here(home, operation, asked, load_settings))


def ask_typed(
    home: Path,
    operation: str,
    asked: "DataclassInstance",
    answer: type[_Answer],
    *,
    timeout: float = PATIENCE,
) -> _Answer:
    """Let the running gateway perform an operation over dataclasses.

    Raises what `ask` raises, and `StartError` for an answer that is not of the type `answer`.
    """
    return _load(answer, ask(home, operation, _dump(asked), timeout=timeout))


def perform_typed(
    home: Path,
    operation: str,
    asked: "DataclassInstance",
    answer: type[_Answer],
    *,
    timeout: float = PATIENCE,
    load_settings: "Callable[[], Settings] | None" = None,
) -> _Answer:
    """Perform an operation over dataclasses; `answer` is the type of its answer.

    Raises what `perform` raises, and `StartError` for an answer that is not of this type.
    """
    done = perform(home, operation, _dump(asked), timeout=timeout, load_settings=load_settings)
    return _load(answer, done)


def _dump(asked: "DataclassInstance") -> dict[str, Any]:
    return {name: value for name, value in dump(asked).items() if value is not None}


def _load(answer: type[_Answer], done: dict[str, Any]) -> _Answer:
    try:
        return load(answer, done)
    except Mistaken as error:
        raise StartError(
            "The running gateway is of another version. Restart it after an upgrade."
        ) from error


def require_database(home: Path) -> None:
    """Raise `StartError` if Talaria has never run with this home, `StoreDamaged` if it is lost."""
    refuse_lost(home / DATABASE)
    if not (home / DATABASE).exists():
        raise StartError(f"{home} has no database yet; `talaria run` creates it.")


def ask_to_stop(home: Path) -> None:
    """Let the running gateway stop in order. Raises what `ask` raises."""
    _post(home, "/stop", {}, PATIENCE)


def ask_as_client(
    home: Path, verb: str, asked: dict[str, Any], *, timeout: float
) -> dict[str, Any]:
    """Let the gateway list the tools of a client, or run its call. Raises what `ask` raises."""
    return _post(home, f"/client/{verb}", asked, timeout)


def _post(home: Path, path: str, asked: dict[str, Any], timeout: float) -> dict[str, Any]:
    status, answer = _request(home, "POST", path, json.dumps(asked), timeout)
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        raise Mistaken(str(answer.get("error")))
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        raise Declined("The gateway failed at that; `talaria logs` shows why.")
    if status != HTTPStatus.OK:
        raise Declined(str(answer.get("error", f"The gateway answered with {status}.")))
    return answer


def _request(
    home: Path, method: str, path: str, body: str, timeout: float
) -> tuple[int, dict[str, Any]]:
    with _connect(home, timeout) as connection:
        try:
            return _exchange(connection, method, path, body.encode())
        except (OSError, ValueError) as error:
            raise StartError(
                f"The gateway for {home} did not answer: {error or type(error).__name__}."
            ) from error


def _connect(home: Path, timeout: float) -> socket.socket:
    """Connect to the socket. Waits only briefly, because a running gateway accepts at once."""
    place = home / CONTROL_SOCKET
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(min(_CONNECT, timeout))
    try:
        connection.connect(str(place))
    except (FileNotFoundError, ConnectionRefusedError) as error:
        connection.close()
        raise NoGateway(f"No gateway is running for {home}.") from error
    except OSError as error:
        connection.close()
        raise StartError(f"{place} can't be reached: {error.strerror or error}.") from error
    connection.settimeout(timeout)
    return connection


def _exchange(
    connection: socket.socket, method: str, path: str, body: bytes
) -> tuple[int, dict[str, Any]]:
    """Send a request and read its answer. HTTP/1.0, so the gateway closes the connection after it.

    Raises `OSError`, and `ValueError` if the answer is cut off.
    """
    head = (
        f"{method} {path} HTTP/1.0\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    answer = b"".join(iter(partial(connection.recv, _PIECE), b""))
    first, _, rest = answer.partition(b"\r\n\r\n")
    found = _STATUS.match(first)
    if found is None:
        raise ValueError("the connection was closed")
    status = int(found[1])
    return status, {} if status == HTTPStatus.INTERNAL_SERVER_ERROR else json.loads(rest)
