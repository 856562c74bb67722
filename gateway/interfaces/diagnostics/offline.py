"""Checks of a home directory and its settings; they change nothing and contact no service."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from adapters.declaration import Platform
from adapters.ids import list_platforms
from adapters.registry import list_declared
from agent_core.errors import StoreError, name_installation
from agent_core.models.local.servers import is_loopback
from agent_core.models.settings import OPENAI
from agent_core.state.lifecycle.inspect import DatabaseInfo, peek
from gateway.app.credentials import Secrets
from gateway.app.external_plugins import discover
from gateway.app.settings import Settings, list_unknown_variables
from gateway.app.settings_check import SECRET_VARIABLES
from gateway.app.tables import PromptSettings
from gateway.background.alert_conditions import measure_space
from gateway.errors import StartError, suggest
from gateway.home import CONFIG_NAME, DATABASE, explain_length, find_open_mode
from gateway.interfaces.client import NoGateway, fetch_health
from gateway.interfaces.diagnostics.extensions import examine_extensions
from gateway.interfaces.diagnostics.finding import Finding, make_finding
from gateway.media.voices.installed import EXTRA

_PATIENCE = 2.0
_OTHER_HOME = "Set TALARIA_HOME to a folder that is yours."
_HEARING = {
    "": "voice messages are not transcribed",
    "local": "Whisper transcribes voice messages on this machine",
    "openai": "the server at OPENAI_BASE_URL transcribes voice messages with {model}",
    "command": "media.transcription_command transcribes voice messages",
}
_SPEAKING = {
    "": "answers are not spoken",
    "local": "the local voices speak answers (English, French, German, Italian, Spanish)",
    "command": "media.speech_command speaks answers",
}
_ROOM = "Make room on that disk, or move the home to another one."


def examine(settings: Settings) -> Iterator[Finding]:
    """Yield the findings for settings that could be loaded, one after the other."""
    yield make_finding("settings", "ok", _describe_settings(settings))
    for warning in list_unknown_variables(settings.environ):
        yield make_finding("environment", "note", warning, "Rename the variable, or remove it.")
    yield _look_at_home(settings.home)
    yield from _look_at_space(settings.home)
    yield _look_at_database(settings.home)
    yield _look_at_gateway(settings.home)
    yield from _look_at_platforms(settings)
    yield from _look_at_access(settings)
    yield _look_at_model(settings)
    yield from _look_at_prompt(settings.prompt)
    yield _look_at_digests(settings)
    yield _look_at_web(settings)
    yield _look_at_voice(settings)
    yield from _look_at_images(settings)
    yield from _look_at_outside(settings)
    yield from examine_extensions(settings)
    yield make_finding("secrets", "ok", _name_secrets(settings.secrets))


def _describe_settings(settings: Settings) -> str:
    path = settings.home / CONFIG_NAME
    return f"{path} is good" if path.exists() else f"defaults and environment; no {path}"


def _look_at_home(home: Path) -> Finding:
    complaint = explain_length(home)
    if complaint:
        return make_finding("home", "fault", complaint)
    if not home.exists():
        parent = _nearest(home)
        if os.access(parent, os.W_OK | os.X_OK) and parent.is_dir():
            return make_finding("home", "ok", f"{home} is created at the first start")
        return make_finding(
            "home", "fault", f"{home} can't be created: {parent} is not writable", _OTHER_HOME
        )
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return make_finding("home", "fault", f"{home} is not writable by this user", _OTHER_HOME)
    if mode := find_open_mode(home):
        text = f"{home} is open to other users (mode {mode:o}); the next start closes it"
        return make_finding(
            "home", "note", text, f"Run `chmod 700 {home}` or `talaria doctor --fix`."
        )
    return make_finding("home", "ok", f"{home} is private to you")


def _look_at_space(home: Path) -> list[Finding]:
    space = measure_space(_nearest(home))
    text = f"{space.free / 1e9:,.1f} GB free on the disk of the home"
    if space.state == "full":
        return [make_finding("disk", "fault", f"{text}: too little to write", _ROOM)]
    return [make_finding("disk", "note" if space.state == "little" else "ok", text, _ROOM)]


def _look_at_database(home: Path) -> Finding:
    path = home / DATABASE
    try:
        glimpse = peek(path)
    except (StoreError, OSError) as error:
        return make_finding("database", "fault", str(error))
    if glimpse is None:
        return make_finding("database", "ok", f"{path} is created at the first start")
    return make_finding("database", "ok", f"{path}, {_describe_schema(glimpse)}")


def _describe_schema(glimpse: DatabaseInfo) -> str:
    if glimpse.schema == glimpse.newest_schema:
        return f"schema {glimpse.schema}"
    return f"schema {glimpse.schema}; the next start migrates it to {glimpse.newest_schema}"


def _look_at_gateway(home: Path) -> Finding:
    try:
        is_well, report = fetch_health(home, timeout=_PATIENCE)
    except NoGateway:
        return _look_for_traces(home)
    except StartError as error:
        return make_finding("gateway", "note", str(error))
    problems = "; ".join(report.get("problems", ()))
    if is_well:
        return make_finding("gateway", "ok", f"runs for {report['uptime_seconds']:,.0f} s, healthy")
    return make_finding("gateway", "note", f"runs, but {problems}", "Run `talaria logs`.")


def _look_for_traces(home: Path) -> Finding:
    """Report a gateway that stopped uncleanly or hangs: its database was not closed."""
    try:
        glimpse = peek(home / DATABASE)
    except (StoreError, OSError):
        glimpse = None  # reported with the database
    if glimpse is None or glimpse.was_closed:
        return make_finding("gateway", "ok", "not running")
    return make_finding(
        "gateway",
        "note",
        f"does not answer; process {glimpse.holder} opened the home directory and has not closed it"
        " (it is starting, hangs or was killed; the next start then checks the database first)",
        "If it hangs, end this process and start Talaria again.",
    )


def _look_at_platforms(settings: Settings) -> list[Finding]:
    secrets = settings.secrets
    page = "and the console page" if settings.http.port else "without the console page"
    findings = [make_finding("console", "ok", f"on: talaria chat, {page}")]
    for name, platform in list_declared().items():
        tokens = platform.needs(settings.find_table(name))
        given = [token for token in tokens if secrets.find(token)]
        wanted = ", ".join(tokens)
        fix = f"Run `talaria setup {name}`."
        if not given:
            findings.append(make_finding(name, "ok", f"off; it needs {wanted}"))
        elif len(given) == len(tokens):
            findings.append(_look_at_address(settings, platform))
        elif tokens[0] in given:
            findings.append(make_finding(name, "fault", f"it needs all of {wanted}", fix))
        else:
            findings.append(make_finding(name, "note", f"off; it needs {wanted}", fix))
    return findings


def _look_at_address(settings: Settings, platform: Platform) -> Finding:
    """Say how the servers of a platform that is on reach Talaria, if they have to."""
    if not platform.needs_address:
        return make_finding(platform.name, "ok", "on")
    if callback := find_callback(settings, platform):
        return make_finding(platform.name, "ok", f"on; its callback URL is {callback}")
    return make_finding(
        platform.name,
        "note",
        "on, but its servers can't call Talaria: it needs a public HTTPS address, whose"
        f" /hooks/{platform.name} leads to port {settings.http.port}",
        "Put a proxy with TLS in front of it, and run `talaria config set http.public_url"
        " https://YOUR-ADDRESS`.",
    )


def find_callback(settings: Settings, platform: Platform) -> str:
    """Return the address that a platform's servers call; "" without a public HTTPS address."""
    address = settings.http.public_url.rstrip("/")
    return f"{address}/hooks/{platform.name}" if address.startswith("https://") else ""


def _look_at_access(settings: Settings) -> Iterator[Finding]:
    """Yield a note for each account of a platform that Talaria doesn't know."""
    enabled = [one for one in discover(settings.home) if one.name in settings.plugins.enabled]
    of_plugins = {entry.name for one in enabled for entry in one.list_entries("platforms")}
    known = of_plugins.union(list_platforms())
    for account in settings.access.allow:
        platform = account.partition(":")[0]
        if account != "*" and platform not in known:
            text = f'access.allow has "{account}", but Talaria knows no platform {platform}'
            hint = suggest(platform, known)
            yield make_finding("access", "note", text, f"{hint[0].upper()}{hint[1:]}")


def _look_at_model(settings: Settings) -> Finding:
    model = settings.model
    if model.provider == "scripted":
        return make_finding(
            "model",
            "note",
            "the stand-in, which is no language model; set ANTHROPIC_API_KEY, OPENAI_API_KEY"
            " or OPENAI_BASE_URL",
            "Run `talaria setup model`, or `talaria models local list` for one of this machine.",
        )
    address = settings.secrets.openai_base_url if model.provider == "openai" else None
    if address and urlsplit(address).path in ("", "/"):
        return make_finding(
            "model",
            "note",
            f"{model.provider}: {model.name}, at {address}, which has no path",
            f"Most servers have their API at {address.rstrip('/')}/v1; set OPENAI_BASE_URL to it.",
        )
    fallback = f", else {', '.join(model.fallbacks)}" if model.fallbacks else ""
    return make_finding("model", "ok", f"{model.provider}: {model.name}{fallback}")


def _look_at_outside(settings: Settings) -> list[Finding]:
    """Check the external memory, and the backlogs of external memories that were used before."""
    provider = settings.memory.provider
    try:
        glimpse = peek(settings.home / DATABASE)
    except (StoreError, OSError):
        glimpse = None  # reported with the database
    backlogs = {one.provider: one for one in glimpse.backlogs} if glimpse else {}
    findings = []
    for name in dict.fromkeys([*([provider] if provider else []), *backlogs]):
        backlog = backlogs.get(name)
        queued, dead = (backlog.queued, backlog.dead) if backlog else (0, 0)
        if name != provider and not (queued or dead):
            continue
        text = f"{name} is {'on' if name == provider else 'off'}; {queued:,} not synced yet"
        if dead:
            text += f", {dead:,} failed: see the log"
        is_odd = dead or (queued and name != provider)
        findings.append(make_finding("external memory", "note" if is_odd else "ok", text))
    return findings


def _look_at_digests(settings: Settings) -> Finding:
    token = settings.secrets.github_token
    hub = f"notifications of {settings.digest.github_url}" if token else "no GITHUB_TOKEN"
    hosts = ", ".join(("the open internet", *settings.digest.allow_hosts))
    return make_finding("digests", "ok", f"{hub}; jobs fetch only from {hosts}")


def _look_at_prompt(prompt: PromptSettings) -> list[Finding]:
    if not prompt.folder or prompt.trust_files:
        return []
    text = (
        f"the files in {prompt.folder} count as words of others, so Talaria asks before it sends or"
        " changes anything; if they are yours, set prompt.trust_files and send /new"
    )
    return [make_finding("prompt", "note", text)]


def _look_at_web(settings: Settings) -> Finding:
    engine = settings.tools.search
    search = f"searches with {engine}" if engine else "tools.search is off"
    missing = [] if find_spec("trafilatura") else ["pages are read as plain text"]
    missing += [] if find_spec("ddgs") or engine != "ddgs" else ["nothing can be searched"]
    if missing:
        reason = f"the extra `web` is not installed, so {' and '.join(missing)}"
        return make_finding("web", "note", f"{search}; {reason}", name_installation("web"))
    return make_finding("web", "ok", f"{search}; reads pages as Markdown")


def _look_at_voice(settings: Settings) -> Finding:
    """Say how voice notes are heard and answers are spoken; nobody has to want either."""
    media = settings.media
    hears = _HEARING[media.hearing].format(model=media.transcription_model)
    text = f"{hears}; {_SPEAKING[media.speaking]}"
    is_offered = "auto" in (media.transcription, media.speech)
    if is_offered and not (media.hearing and media.speaking):
        return make_finding("voice", "ok", f"{text}; to add both: {name_installation(EXTRA)}")
    return make_finding("voice", "ok", text)


def _look_at_images(settings: Settings) -> Iterator[Finding]:
    """Say what makes pictures; nothing without a model for them."""
    images = settings.images
    if not images.model:
        return
    text = f"{images.model} makes pictures, at most {images.most_per_day} a day for one person"
    if images.price_usd:
        yield make_finding("images", "ok", f"{text}, ${images.price_usd:,.2f} each")
    elif is_loopback(settings.secrets.openai_base_url or OPENAI):
        yield make_finding("images", "ok", f"{text}, on this machine")
    else:
        remedy = "Set images.price_usd, so that pictures count in the limits of the day."
        yield make_finding("images", "note", f"{text}; no price is set", remedy)


def _name_secrets(secrets: Secrets) -> str:
    given = [name for name in SECRET_VARIABLES if getattr(secrets, name.lower())]
    return f"set: {', '.join(given)}" if given else "none is set"


def _nearest(path: Path) -> Path:
    """Return the path if it exists, else its nearest parent folder that exists."""
    return next(place for place in (path, *path.parents) if place.exists())
