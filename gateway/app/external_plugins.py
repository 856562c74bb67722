"""Loads plug-ins of other packages: platforms, models, tools, memories and skills.

A plug-in is a Python package with entry points in the groups of `GROUPS`. It is installed beside
Talaria, or in the folder `plugins` of the home. Only the packages that `plugins.enabled` names are
imported, because their code does whatever Talaria may do.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from typing import Any, Literal

from adapters.contract import ChatAdapter
from agent_core import chat_platforms
from agent_core.chat_platforms import PlatformWords
from agent_core.errors import SkillBroken
from agent_core.memory.contract import MemoryProvider
from agent_core.models.contract import Model
from agent_core.skills.catalog import SkillCatalog, list_skill_folders, may_be_skill
from agent_core.tools.contract import Tool
from gateway.app import plugins
from gateway.app.settings import Settings
from gateway.errors import StartError, suggest

API = 1
"""The version of all contracts together; a plug-in's module states its own as `TALARIA_API`."""
FOLDER = "plugins"
"""The folder of the home for plug-ins, as `pip install --target` fills it."""

PluginKind = Literal["platforms", "models", "tools", "memories", "skills"]
Origin = Literal["installed", "home"]
GROUPS: Mapping[str, PluginKind] = {
    "talaria.platforms": "platforms",
    "talaria.models": "models",
    "talaria.tools": "tools",
    "talaria.memories": "memories",
    "talaria.skills": "skills",
}
"""The kinds of plug-ins by the group of their entry points."""
_CONTRACTS: Mapping[PluginKind, type] = {
    "platforms": ChatAdapter,
    "models": Model,
    "tools": Tool,
    "memories": MemoryProvider,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A package with entry points for Talaria; nothing of it is imported yet."""

    name: str
    version: str
    origin: Origin
    entries: tuple[EntryPoint, ...]

    def list_entries(self, kind: PluginKind) -> list[EntryPoint]:
        """List the entry points of one kind."""
        return [entry for entry in self.entries if GROUPS[entry.group] == kind]


def discover(home: Path) -> list[Plugin]:
    """List the plug-ins that are installed or in the home, without importing them."""
    folder = home / FOLDER
    installed = (one for one in distributions() if Path(str(one.locate_file(""))) != folder)
    in_home = distributions(path=[str(folder)]) if folder.is_dir() else ()
    return [*_list_plugins(installed, "installed"), *_list_plugins(in_home, "home")]


def _list_plugins(found: Iterable[Distribution], origin: Origin) -> list[Plugin]:
    listed: dict[str, Plugin] = {}
    for one in found:
        entries = tuple(entry for entry in one.entry_points if entry.group in GROUPS)
        if entries:
            name = one.metadata["Name"].lower().replace("_", "-")
            plugin = Plugin(name=name, version=one.version, origin=origin, entries=entries)
            listed.setdefault(name, plugin)  # Python imports the first on the path
    return [listed[name] for name in sorted(listed)]


class ExternalPlugins:
    """The plug-ins that the settings enable."""

    def __init__(self, settings: Settings) -> None:
        """Find the enabled plug-ins without importing them. Raises `StartError`."""
        self._settings = settings
        found = discover(settings.home) if settings.plugins.enabled else []
        self.enabled: Sequence[Plugin] = [_select(name, found) for name in settings.plugins.enabled]
        self._options = {one.name: _read_options(one.name, settings) for one in self.enabled}
        if any(one.origin == "home" for one in self.enabled):
            folder = str(settings.home / FOLDER)
            if folder not in sys.path:
                sys.path.append(folder)  # last, so that it can't replace a module of Talaria

    def load_platforms(self) -> dict[str, ChatAdapter]:
        """Create the adapters, by name. Raises `StartError`."""
        made: dict[str, ChatAdapter] = {}
        for plugin, entry in self._walk("platforms"):
            made[entry.name] = adapter = self._create(plugin, entry)
            chat_platforms.introduce({entry.name: _find_words(entry)})
            if adapter.name != entry.name:
                raise _fault(plugin, f"its platform {entry.name} calls itself {adapter.name}")
        return made

    def load_tools(self) -> tuple[Tool, ...]:
        """Create the tools. Raises `StartError`."""
        made: list[Tool] = []
        for plugin, entry in self._walk("tools"):
            for tool in self._create(plugin, entry):
                if tool.spec.name in {one.spec.name for one in made}:
                    raise _fault(plugin, f"another plug-in has a tool {tool.spec.name}, too")
                made.append(tool)
        return tuple(made)

    def load_model(self, name: str) -> Model | None:
        """Create a model provider; None if no plug-in has it. Raises `StartError`."""
        found = [one for one in self._walk("models") if one[1].name == name]
        model: Model | None = self._create(*found[0]) if found else None
        return model

    def load_memory(self, name: str) -> MemoryProvider | None:
        """Create an external memory; None if no plug-in has it. Raises `StartError`."""
        found = [one for one in self._walk("memories") if one[1].name == name]
        memory: MemoryProvider | None = self._create(*found[0]) if found else None
        return memory

    def list_skill_folders(self) -> list[Path]:
        """List the folders whose subfolders are skills. Raises `StartError`."""
        offered = list(self._walk("skills"))
        if not offered:
            return []
        taken = {one.name for one in SkillCatalog(self._settings.home / "-").list_all()}
        folders = []
        for plugin, entry in offered:
            module = self._import(plugin, entry)
            folder = Path(str(module.__file__)).parent
            names = _name_skills(folder)
            if both := sorted(taken & names):
                raise _fault(plugin, f"there is a skill {both[0]} already")
            taken |= names
            folders.append(folder)
        return folders

    def find_fault(self, plugin: Plugin) -> str:
        """Load everything of a plug-in, and return what is wrong with it; "" if nothing is."""
        try:
            for entry in plugin.entries:
                kind = GROUPS[entry.group]
                self._check_name(plugin, entry, kind)
                if kind == "skills":
                    self.list_skill_folders()
                else:
                    self._create(plugin, entry)
        except StartError as error:
            return str(error)
        return ""

    def _walk(self, kind: PluginKind) -> Iterator[tuple[Plugin, EntryPoint]]:
        """Yield the entry points of one kind. Raises `StartError` if two have the same name."""
        for plugin in self.enabled:
            for entry in plugin.list_entries(kind):
                self._check_name(plugin, entry, kind)
                yield plugin, entry

    def _check_name(self, plugin: Plugin, entry: EntryPoint, kind: PluginKind) -> None:
        if entry.name in plugins.list_built_in(kind):
            raise _fault(plugin, f"Talaria itself has {entry.name} among its {kind}")
        for other in self.enabled:
            same = [one for one in other.list_entries(kind) if one.name == entry.name]
            if other is not plugin and same:
                raise _fault(plugin, f"{other.name} has {entry.name} among its {kind}, too")

    def _import(self, plugin: Plugin, entry: EntryPoint) -> Any:
        """Import the module of an entry point. Raises `StartError`."""
        try:
            entry.load()
        except Exception as error:  # the bulkhead: a plug-in may raise whatever it wants
            raise _fault(plugin, f"it can't be loaded ({_describe(error)})") from error
        module = sys.modules[entry.module]
        version = getattr(module, "TALARIA_API", None)
        if version != API:
            made_for = f"version {version}" if version else "no stated version"
            raise _fault(
                plugin,
                f"it is made for {made_for} of the plug-in interface, and this is version {API}",
            )
        return module

    def _create(self, plugin: Plugin, entry: EntryPoint) -> Any:
        """Create the object of an entry point. Raises `StartError`."""
        self._import(plugin, entry)
        kind = GROUPS[entry.group]
        try:
            made = entry.load()(self._options[plugin.name])
            several = tuple(made) if kind == "tools" else (made,)
        except Exception as error:  # the bulkhead, as above
            raise _fault(plugin, f"{entry.name} can't be created ({_describe(error)})") from error
        contract = _CONTRACTS[kind]
        needed = [name for name in vars(contract) if not name.startswith("_")]
        for one in several:
            missing = [name for name in needed if not hasattr(one, name)]
            if missing:
                raise _fault(plugin, f"{entry.name} has no {', '.join(missing)}")
        return several if kind == "tools" else made


def _find_words(entry: EntryPoint) -> PlatformWords:
    """Return what a plug-in's module says of its platform in `TITLE` and `HINT`."""
    module = sys.modules[entry.module]
    title = str(getattr(module, "TITLE", ""))
    return PlatformWords(title=title, hint=str(getattr(module, "HINT", "")))


def _select(name: str, found: Sequence[Plugin]) -> Plugin:
    matching = [one for one in found if one.name == name.lower().replace("_", "-")]
    if not matching:
        names = [one.name for one in found]
        hint = suggest(name, names) if names else "no plug-in is installed."
        raise StartError(f'plugins.enabled names "{name}", which is not installed; {hint}')
    if len(matching) > 1:
        raise _fault(matching[0], "it is both installed and in the home's folder of plug-ins")
    return matching[0]


def _read_options(name: str, settings: Settings) -> dict[str, str]:
    """Return the options of one plug-in. A value of `$NAME` is read from the environment."""
    options = {}
    for text in settings.plugins.options:
        key, equals, value = text.partition("=")
        package, dot, option = key.strip().rpartition(".")
        if not (equals and dot and package and option):
            raise StartError(
                f'plugins.options has "{text}"; an option looks like "talaria-dice.sides=20".'
            )
        if package.lower().replace("_", "-") == name:
            value = value.strip()
            known = settings.environ.get(value[1:]) if value.startswith("$") else value
            if known is None:
                raise StartError(f"plugins.options needs the variable {value[1:]}, which is unset.")
            options[option] = known
    return options


def _fault(plugin: Plugin, reason: str) -> StartError:
    return StartError(
        f"The plug-in {plugin.name} can't be used: {reason}. Repair it, or take it out of"
        " plugins.enabled."
    )


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _name_skills(folder: Path) -> set[str]:
    """Name the skills of a plug-in; none if its folder is closed, which its catalog reports."""
    try:
        return {one.name for one in list_skill_folders(folder) if may_be_skill(one)}
    except SkillBroken:
        return set()
