"""A model server of this machine as it was found, and the model to choose."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

Kind = Literal["ollama", "lm_studio", "llama_cpp", "vllm", "other"]

TITLES: dict[Kind, str] = {
    "ollama": "Ollama",
    "lm_studio": "LM Studio",
    "llama_cpp": "llama.cpp",
    "vllm": "vLLM",
    "other": "a server with OpenAI's API",
}

USUAL_PORTS = (11434, 1234, 8080, 8000, 1337, 5001, 4891, 30000)
"""Ollama, LM Studio, llama.cpp, vLLM, Jan, KoboldCpp, GPT4All, SGLang."""

_BILLIONS = re.compile(r"(?<![a-z0-9.])(\d{1,3}(?:\.\d{1,2})?)b(?![a-z0-9])")
_NEAR = (".localhost", ".local", ".lan", ".internal", ".home.arpa")
_BYTES_A_PARAMETER = 0.65
"""Of a model with four to five bits a weight, which is what nearly everybody runs."""
_SHARE = 0.7
"""The share of the memory that a model may take, so that its context has room, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model of a local server. What the server does not tell is None."""

    name: str
    calls_tools: bool | None = None
    billions: float | None = None
    """Billions of parameters."""
    weight: int | None = None
    """Bytes of its file."""
    window: int | None = None
    """The tokens that a request may have, as the server is running now."""

    @property
    def bytes_needed(self) -> float:
        """The approximate bytes of memory that it takes; 0 if nobody knows."""
        return self.weight or (self.billions or 0.0) * 1e9 * _BYTES_A_PARAMETER


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A model server that answers on a port of this machine.

    `owner` is the name of the user whose process it is; None if that can't be known. `is_trusted`
    is true if that is this user or root, so that nobody else can read what is sent there.
    """

    kind: Kind
    port: int
    models: tuple[LocalModel, ...] = ()
    owner: str | None = None
    is_trusted: bool = False

    @property
    def title(self) -> str:
        """Its name for people."""
        return TITLES[self.kind]

    @property
    def root(self) -> str:
        """The address of the server itself."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """The address of its chat-completions API."""
        return f"{self.root}/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model of a server."""

    server: LocalServer
    model: LocalModel


def choose(servers: Iterable[LocalServer], memory: int) -> Choice | None:
    """Choose the model that is most likely to do the work; None without one that may call tools.

    One that says that it calls tools comes first; then one that fits into `memory` (bytes), and
    then the largest. A model that says that it calls none is never chosen. Equal servers give an
    equal choice, whatever their order.
    """
    choices = [Choice(server=server, model=model) for server in servers for model in server.models]
    able = [one for one in choices if one.model.calls_tools is not False]
    return max(able, key=lambda one: _rank(one, memory), default=None)


def _rank(one: Choice, memory: int) -> tuple[bool, bool, float, str, int]:
    needed = one.model.bytes_needed
    fits = needed <= memory * _SHARE
    size = needed if fits else -needed
    return one.model.calls_tools is True, fits, size, one.model.name, -one.server.port


def read_billions(text: str) -> float | None:
    """Read the parameters from a size such as `7.6B` or a name such as `qwen3-8b-instruct`."""
    found = _BILLIONS.search(text.lower())
    return float(found[1]) if found else None


def is_near(address: str) -> bool:
    """Return whether an address is on this machine, or on the network of this house.

    That is a loopback or private number, a name without a dot, or a name that only a house knows.
    """
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private or is_loopback(address)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_NEAR))


def is_loopback(address: str) -> bool:
    """Return whether an address (of http or https) is on this machine."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
