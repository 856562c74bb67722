"""The rules that a module has to keep; each gives the places where it does not."""

import ast
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from tests.architecture.source import Module

Rule = Callable[[Module], Iterator[str]]

MOST_FUNCTION_LINES = 60
MOST_PARAMETERS = 6
_FREE_SIGNATURES = ("__init__", "do_request", "launch")
"""A constructor takes what it needs; the signatures of `do_request` and `launch` are an SDK's."""
BANNED_WORDS = {
    *("util", "utils", "helper", "helpers", "common", "misc"),
    *("manager", "managers", "handler", "handlers", "base", "service", "services"),
}
TYPED = "gateway/interfaces/cli/service/"
"""It has the name of the subcommand that people type, as with other programs."""
BULKHEADS = {
    "gateway/fairness.py": "one key's failure harms no other key",
    "gateway/app/external_plugins.py": "a plug-in of others may raise whatever it wants",
    "gateway/app/maintenance.py": "one task's failure harms no other task",
    "gateway/app/platform_supervisor.py": "one platform's fault takes no other with it",
    "gateway/jobs/runner.py": "one run's failure is recorded and harms nothing else",
    "agent_core/batch/run.py": "one task's failure is recorded and harms no other task",
    "agent_core/environments/episode.py": "a broken episode is one failed episode",
    "agent_core/tools/mcp/supervisor.py": "a foreign server may make the SDK raise anything",
    "agent_core/state/engine/connection.py": "one transaction's error goes to its own caller",
}
"""The only modules that may catch whatever comes, and why; each is told in the decisions."""
SDK_FOLDERS: dict[str, tuple[str, ...]] = {
    "telegram": ("adapters/telegram/",),
    "discord": ("adapters/discord/",),
    "slack_sdk": ("adapters/slack/",),
    "anthropic": ("agent_core/models/anthropic/",),
    "openai": ("agent_core/models/openai/",),
    "honcho": ("agent_core/memory/external/honcho/",),
    "daytona": ("agent_core/execution/hosted/daytona.py",),
    "opentelemetry": ("gateway/interfaces/telemetry/exporter.py",),
    "modal": ("agent_core/execution/hosted/modal.py",),
    "verifiers": ("agent_core/environments/with_verifiers.py",),
    "mcp": ("agent_core/tools/mcp/", "gateway/interfaces/mcp_server/"),
}
ENVIRONMENT = {"os.environ", "os.environb", "os.getenv"}
LOADED = (
    "agent_core/memory/external",
    "agent_core/models",
    "gateway/interfaces/cli",
)
"""Where packages are loaded by the name of their folder, and export what the loader looks for."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def check_functions(module: Module) -> Iterator[str]:
    """A function is read in one look. (Ruff counts its statements.)"""
    for node in module.nodes:
        if not (module.is_product and isinstance(node, _FUNCTIONS)):
            continue
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > MOST_FUNCTION_LINES:
            yield f"{module.path}:{node.lineno} {node.name} has {lines} lines"
        signature = node.args
        names = [one.arg for one in (*signature.posonlyargs, *signature.args)]
        taken = len(names) + len(signature.kwonlyargs) - (names[:1] in (["self"], ["cls"]))
        if taken > MOST_PARAMETERS and node.name not in _FREE_SIGNATURES:
            yield f"{module.path}:{node.lineno} {node.name} takes {taken} parameters"


def check_name(module: Module) -> Iterator[str]:
    """A name says what is inside; the banned ones say that nobody knew."""
    path = PurePosixPath(module.path.removeprefix(TYPED))
    for part in (*path.parent.parts, path.stem):
        if BANNED_WORDS & set(part.lower().split("_")):
            yield f"{module.path}: {part} is no name"


def check_first_line(module: Module) -> Iterator[str]:
    """A module says its one job in its first line."""
    first = (ast.get_docstring(module.tree, clean=False) or "").split("\n")[0].strip()
    if len(first) < 10:
        yield f"{module.path} does not say its job in its first line"


def check_init(module: Module) -> Iterator[str]:
    """A name is imported from where it lives: `__init__` says what the package is for."""
    package = PurePosixPath(module.path).parent
    is_library = module.path == "agent_core/__init__.py"  # the face for programs of others
    if module.name != "__init__" or not module.is_product or is_library:
        return
    for node in module.tree.body[1:]:
        is_own = isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(
            f"{package}.".replace("/", ".")
        )
        is_all = ast.unparse(node).startswith("__all__ = ")
        if not (is_own or is_all) or str(package.parent) not in LOADED:
            yield f"{module.path}:{node.lineno} holds more than a docstring"


def check_no_mock(module: Module) -> Iterator[str]:
    """Tests use real parts; a mock agrees with everything."""
    for line, name in _imports(module):
        if name.startswith(("unittest", "mock", "pytest_mock")):
            yield f"{module.path}:{line} imports {name}"


def check_shared_tests(module: Module) -> Iterator[str]:
    """What several tests need has a module of its own, with a name that says what it is."""
    for line, name in _imports(module):
        if name.startswith("tests.") and ".test_" in name:
            yield f"{module.path}:{line} imports {name}"


def check_excepts(module: Module) -> Iterator[str]:
    """Whatever comes is caught at the bulkheads only, or to be raised again."""
    if not module.is_product or module.path in BULKHEADS:
        return
    for node in module.nodes:
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type):
            last = node.body[-1]
            if not (isinstance(last, ast.Raise) and last.exc is None):
                yield f"{module.path}:{node.lineno} catches whatever comes"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            broad = [argument for argument in node.args if _is_broad(argument)]
            yield from (f"{module.path}:{one.lineno} suppresses whatever comes" for one in broad)


def check_environment(module: Module) -> Iterator[str]:
    """Only the settings and the entry point read the process's environment."""
    readers = ("gateway/app/settings.py", "gateway/__main__.py")
    if not module.is_product or module.path in readers:
        return
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ENVIRONMENT:
            yield f"{module.path}:{node.lineno} reads the environment"
    for line, name in _imports(module):
        if name in ENVIRONMENT:
            yield f"{module.path}:{line} reads the environment"


def check_paths(module: Module) -> Iterator[str]:
    """A `~` whose user doesn't exist is a sentence, and not a traceback, in one place only."""
    if not module.is_product or module.path == "gateway/home.py":
        return
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "expanduser":
            yield f"{module.path}:{node.lineno} replaces ~ without gateway.home.expand"


def check_importlib(module: Module) -> Iterator[str]:
    """Only these modules load by name; others may read package data or look for a package."""
    loaders = (
        "adapters/registry.py",
        "agent_core/models/anthropic/late.py",
        "agent_core/models/loading.py",
        "agent_core/execution/hosted/accounts.py",
        "agent_core/schedule/almanac.py",
        "agent_core/state/backups/extras.py",
        "agent_core/tools/mcp/loading.py",
        "gateway/app/plugins.py",
        "gateway/interfaces/http/loading.py",
        "gateway/interfaces/mcp_server/loading.py",
        "gateway/interfaces/subcommands.py",
        "gateway/interfaces/telemetry/loading.py",
        "gateway/operations/registry.py",
    )
    if not module.is_product or module.path in loaders:
        return
    for line, name in _imports(module):
        allowed = name.startswith(
            ("importlib.resources", "importlib.metadata", "importlib.util.find_spec")
        )
        if name.split(".")[0] in ("importlib", "pkgutil", "runpy") and not allowed:
            yield f"{module.path}:{line} imports {name}"
    for node in module.nodes:
        if isinstance(node, ast.Name) and node.id in ("__import__", "eval", "exec"):
            yield f"{module.path}:{node.lineno} uses {node.id}"


def check_sdks(module: Module) -> Iterator[str]:
    """An SDK is imported in its own folders only."""
    for line, name in _imports(module):
        folders = SDK_FOLDERS.get(name.split(".")[0])
        if module.is_product and folders and not module.path.startswith(folders):
            yield f"{module.path}:{line} imports {name}, which belongs into {' or '.join(folders)}"


_FOREIGN_NAMES = ("display_name", "forwarded_from", "platform_title", "room_title")
_NAMING = (
    "gateway/people/",
    "gateway/texts/",
    "gateway/interfaces/",
    "adapters/",
    "agent_core/state/",
)
"""What stores names, and shows them to people."""
_NAMING_FILES = {
    "gateway/turns/model_messages.py": "makes plain names of them",
    "gateway/inbound/names.py": "makes plain names of them",
    "gateway/inbound/events.py": "compares whether a message passes something on",
    "gateway/inbound/api_platform.py": "stores the name of a program that its owner named",
    "gateway/operations/accounts.py": "lists a person's own accounts to them and to owners",
    "gateway/operations/rooms.py": "lists groups to owners",
    "gateway/operations/people.py": "lists to owners who wants in",
    "gateway/jobs/destinations.py": "compares titles with what the person wrote, and lists none",
    "agent_core/tools/chat/group_titles.py": "reads titles as untrusted text",
    "agent_core/agent/replay/trajectories.py": "removes names",
}


def check_names(module: Module) -> Iterator[str]:
    """No module that makes prompts reads a name that a stranger chose; see `safe_names`."""
    path = str(module.path)
    if not module.is_product or path == "agent_core/safe_names.py":
        return
    is_free = path.startswith(_NAMING) or path in _NAMING_FILES
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and node.attr in _FOREIGN_NAMES and not is_free:
            yield f"{path}:{node.lineno} reads {node.attr}"
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "PlainName":
            yield f"{path}:{node.lineno} makes a PlainName by itself"


RULES: tuple[Rule, ...] = (
    check_functions,
    check_names,
    check_name,
    check_first_line,
    check_init,
    check_no_mock,
    check_shared_tests,
    check_excepts,
    check_environment,
    check_paths,
    check_importlib,
    check_sdks,
)


def _imports(module: Module) -> Iterator[tuple[int, str]]:
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.lineno, f"{node.module}.{name.name}") for name in node.names)


def _is_broad(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(ast.unparse(one).split(".")[-1] in ("Exception", "BaseException") for one in kinds)
