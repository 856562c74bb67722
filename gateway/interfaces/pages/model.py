"""Model: which one answers, and the form that tries another one and saves it. For owners."""

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from agent_core.errors import ModelDenied, ModelError, ModelMisplaced, ModelUnreachable
from agent_core.models.local.servers import Choice
from gateway.app import local_models
from gateway.app.config_file import change_config
from gateway.app.env_file import change_env, read_env
from gateway.app.settings import Settings
from gateway.app.settings_check import name_variable
from gateway.errors import StartError
from gateway.home import CONFIG_NAME
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.model_connection import (
    ADDRESS,
    KEY,
    ModelWish,
    TriedModel,
    UnknownModel,
    sends_key_elsewhere,
    try_model,
)
from gateway.interfaces.pages.configuration import load_next
from gateway.interfaces.pages.views import Fields, Look
from gateway.texts import model_page as texts

_MOST_BYTES = 16_000
_SERVER = "server"
_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": KEY, _SERVER: KEY}
"""The variable of the key of each way."""
_USUAL_ADDRESS = "http://localhost:11434/v1"


async def show(look: Look) -> Fields:
    """Show which model answers, now and from the next start on, and the empty form.

    With `look` in the query, models of this computer are listed, too, unless the search is off.
    """
    return await _describe(look, {"way": "anthropic"}, {})


async def connect(look: Look) -> Response:
    """Try a model with its provider, and save it. Nothing is saved of what does not work."""
    found = await read_form(look.request, _MOST_BYTES, keeps_empty=True)
    form = {name: values[0].strip() for name, values in found.items()}
    wish, faults = _read(look, form)
    if not faults:
        try:
            environ = look.gateway.settings.environ
            tried = await asyncio.to_thread(try_model, environ, wish)
            await asyncio.to_thread(_save, look.gateway.settings, wish, tried)
        except StartError as error:
            faults = _explain(error)
        else:
            return look.redirect("/model", note=texts.SAVED(name=tried.name))
    return look.reject("model.html", **await _describe(look, form, faults))


def _read(look: Look, form: Mapping[str, str]) -> tuple[ModelWish, dict[str, str]]:
    """Return what a form asks for, and what is wrong with it."""
    way, key, environ = form.get("way", ""), form.get("key", ""), look.gateway.settings.environ
    if way not in _KEYS:
        return ModelWish(provider=""), {"way": texts.WAY()}
    secrets = {_KEYS[way]: key} if key else {}
    faults = {}
    if way == _SERVER:
        secrets[ADDRESS] = form.get("address", "") or _USUAL_ADDRESS
    elif not key and not environ.get(_KEYS[way]):
        faults = {"key": texts.KEY_MISSING()}
    if way == "openai" and environ.get(ADDRESS):
        secrets[ADDRESS] = ""  # it names another server, which would get the requests
    if sends_key_elsewhere(environ, secrets):
        faults = {"key": texts.KEY_OF_ANOTHER()}
    wish = ModelWish(
        provider="anthropic" if way == "anthropic" else "openai",
        secrets=secrets,
        name=form.get("name", ""),
    )
    if fixed := _find_fixed(look.gateway.settings, wish):
        faults = {"form": texts.IN_ENVIRONMENT(name=fixed)}
    return wish, faults


def _find_fixed(settings: Settings, wish: ModelWish) -> str:
    """Return a variable of the process that would win over what is saved; "" if there is none."""
    saved = read_env(settings.home)
    for table_key in ("provider", "name"):
        if (name := name_variable("model", table_key)) in settings.environ:
            return name
    for name, value in wish.secrets.items():
        if settings.environ.get(name, value) != value and name not in saved:
            return name
    return ""


def _save(settings: Settings, wish: ModelWish, tried: TriedModel) -> None:
    """Write keys and address into `.env`, and the model into the file. Raises `SettingsError`."""
    if wish.secrets:
        change_env(settings.home, wish.secrets)
    model = {"provider": wish.provider, "name": tried.saved}
    change_config(settings.home / CONFIG_NAME, {"model": model})


def _explain(error: StartError) -> dict[str, str]:
    """Return the fault of the field that an error of the provider is about."""
    cause = error.__cause__
    origin = cause.__cause__ if isinstance(error, UnknownModel) and cause else cause
    if isinstance(origin, ModelMisplaced):
        return {"address": texts.ADDRESS_WRONG()}
    if isinstance(error, UnknownModel):
        names = ", ".join(error.names)
        return {"name": texts.NO_SUCH_MODEL(names=names) if names else texts.NO_MODEL()}
    if isinstance(origin, ModelDenied):
        return {"key": texts.KEY_REFUSED()}
    if isinstance(origin, ModelUnreachable | TimeoutError):
        return {"form": texts.SILENT()}
    reason = str(origin) if isinstance(origin, ModelError) else str(error)
    return {"form": texts.NOT_SAVED(reason=reason)}


async def _describe(
    look: Look, form: Mapping[str, str], faults: Mapping[str, str]
) -> dict[str, Any]:
    """Return the fields of the page. A key that was typed is in none of them."""
    settings = look.gateway.settings
    following = await load_next(settings)
    names = [(one.model.provider, one.model.name) for one in (settings, following)]
    is_new = not following.has_no_model and names[0] != names[1]
    is_wanted = "look" in look.request.query_params
    found = await local_models.discover(settings) if is_wanted else None
    servers = found.servers if found else ()
    shown = {name: form.get(name, "") for name in ("way", "address", "name")}
    return {
        "form": shown,
        "faults": faults,
        "now": settings.model.name,
        "following": following.model.name if is_new else "",
        "is_wanted": is_wanted,
        "may_search": settings.model.find_local,
        "local": [
            Choice(server=server, model=model) for server in servers for model in server.models
        ],
        "usual_address": _USUAL_ADDRESS,
        "m": texts,
    }
