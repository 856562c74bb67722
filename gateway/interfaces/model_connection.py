"""Connect a model: try a key or an address with its provider, before anything is saved."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from gateway.app.settings import Settings, load
from gateway.errors import StartError, find_nearest
from gateway.interfaces.doctor.probes import NoSuchModel, check_model, list_models

PROVIDER, NAME = "TALARIA_MODEL__PROVIDER", "TALARIA_MODEL__NAME"
KEY, ADDRESS = "OPENAI_API_KEY", "OPENAI_BASE_URL"
"""The variables that OpenAI shares with every other server of its API."""


_HERE = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?(?:/|$)", re.IGNORECASE)
"""An address on this machine without a scheme."""
_VERSION = "/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWish:
    """The model that shall answer: its provider, keys and address, and its name.

    An empty value in `secrets` removes the variable. An empty name is the provider's usual model.
    """

    provider: str
    secrets: Mapping[str, str] = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedModel:
    """A model that its provider has: its name, and `saved`, which is "" for the usual one."""

    name: str
    saved: str


class UnknownModel(StartError):
    """The provider takes the key, but has no such model. `names` are some that it has."""

    def __init__(self, cause: NoSuchModel, name: str, names: tuple[str, ...]) -> None:
        super().__init__(str(cause.__cause__))
        self.names = names
        self.near = find_nearest(name, names) or ""


def sends_key_elsewhere(environ: Mapping[str, str], secrets: Mapping[str, str]) -> bool:
    """Return whether a change sends the present key to another server than the one it is for."""
    if secrets.get(KEY) or not environ.get(KEY, "").strip():
        return False
    present, wanted = (
        one.get(ADDRESS, "").strip().rstrip("/") for one in (environ, {**environ, **secrets})
    )
    return present != wanted


def complete_address(words: str) -> str:
    """Return an address as it is; one on this machine without a scheme gets `http://`."""
    return f"http://{words}" if _HERE.match(words) else words


def find_api(environ: Mapping[str, str], wish: ModelWish) -> str:
    """Return the address at which a wish's server lists its models: as given, or with `/v1`.

    Asks both unless it ends with `/v1`; without an answer, returns it as given. Blocks for up to
    half a minute. Raises `SettingsError`.
    """
    given = wish.secrets.get(ADDRESS, "").rstrip("/")
    if not given or given.endswith(_VERSION):
        return given
    has_path = bool(urlsplit(given).path)
    tried = (given, given + _VERSION) if has_path else (given + _VERSION, given)
    for address in tried:
        secrets = {**wish.secrets, ADDRESS: address}
        if list_models(load_trial(environ, replace(wish, secrets=secrets))):
            return address
    return given


def load_trial(environ: Mapping[str, str], wish: ModelWish) -> Settings:
    """Return the settings as they would be with a wish. Raises `SettingsError`."""
    given = {**environ, **wish.secrets, PROVIDER: wish.provider, NAME: wish.name}
    return load(given, without=[name for name, value in wish.secrets.items() if not value])


def try_model(environ: Mapping[str, str], wish: ModelWish) -> TriedModel:
    """Ask the provider for the model of a wish; without a name, for the usual or the first one.

    Blocks for up to half a minute. Raises `UnknownModel`, or another `StartError` if a value is
    wrong, the key is refused, or the server is silent.
    """
    usual = load_trial(environ, ModelWish(provider=wish.provider, secrets=wish.secrets))
    settings = load_trial(environ, wish)
    try:
        check_model(settings)
    except NoSuchModel as error:
        names = list_models(settings)
        if wish.name or not names:
            raise UnknownModel(error, settings.model.name, names) from error
        settings = load_trial(
            environ, ModelWish(provider=wish.provider, secrets=wish.secrets, name=names[0])
        )
        check_model(settings)
    name = settings.model.name
    return TriedModel(name=name, saved="" if name == usual.model.name else name)
