"""A deed exists once, as an operation: no command, page, route or verb writes to the state itself.

What writes is read from the SQL of `agent_core/state`, and followed through `agent_core` and
`gateway` up to what a surface calls. So a deed that somebody adds outside `gateway/operations` is
seen, also if it goes through a function between.
"""

import ast
from collections.abc import Iterator
from functools import cache

from tests.architecture.source import Module, list_modules
from tests.architecture.statements import list_statements

SURFACES = ("gateway/commands/", "gateway/interfaces/")
STATE = "agent_core/state/"
ENGINE = f"{STATE}engine/"
OPERATIONS = "gateway/operations/"
CHANGES = ("INSERT", "UPDATE", "DELETE", "REPLACE")

PEOPLE, QUEUES = "agent_core.state.people", "agent_core.state.queues"
NO_DEEDS = {
    f"{QUEUES}.outbox.enqueue": "sends an answer",
    f"{QUEUES}.outbox.revise": "shows an answer anew",
    "agent_core.state.conversations.files.store": "keeps a file that is sent or was received",
    **dict.fromkeys((".pose", ".ask", ".repeat"), "asks; the answer does the deed, everywhere"),
    f"{PEOPLE}.audit.record": "notes a deed",
    f"{PEOPLE}.deeds.record": "notes a deed for /undo",
    f"{PEOPLE}.deeds.take_back": "notes that /undo has taken a deed back",
    f"{PEOPLE}.deeds.leave_out": "notes that /undo can't take a deed back",
    f"{PEOPLE}.deeds.bring_back": "notes that /undo has done a deed again",
    f"{PEOPLE}.api_tokens.note_use": "notes a use",
}
"""What writes beside each deed, by why it is none."""

CHAT = "is about the chat in which it is said, which no other surface has"
BROWSER = "is about the browser's own login"
LINKS = "goes by the account that the chat proves; `AccountMerging` is what operations call, too"
MACHINE = "is about the process or the home, before any service exists"
EXCEPTIONS = {
    "gateway/commands/agents.py:_use": CHAT,
    "gateway/commands/conversation.py:_branch": CHAT,
    "gateway/commands/conversation.py:_btw": CHAT,
    "gateway/commands/conversation.py:_retry": CHAT,
    "gateway/commands/learned.py:_ask": CHAT,
    "gateway/commands/learned.py:_learn": CHAT,
    "gateway/commands/people.py:_accounts": LINKS,
    "gateway/commands/people.py:_link": LINKS,
    "gateway/commands/people.py:_start": LINKS,
    "gateway/commands/people.py:_unlink": LINKS,
    "gateway/commands/people.py:_console": "stores the link that it answers with",
    "gateway/commands/reminders.py:take_press": "answers a reminder by its own button",
    "gateway/interfaces/api/forks.py:_open": "is the operation of pages and API, beside its client",
    "gateway/interfaces/api/forks.py:set_removed": "as _open",
    "gateway/interfaces/cli/restore.py:_read": MACHINE,
    "gateway/interfaces/contexts.py:memory": "makes the services of operations",
    "gateway/interfaces/contexts.py:prompt_cache": "makes the services of operations",
    "gateway/interfaces/contexts.py:put_request": "is a service of operations",
    "gateway/interfaces/foreground.py:_serve": MACHINE,
    "gateway/interfaces/health.py:_look_into": "tries whether the database can be written",
    "gateway/interfaces/http/logins.py:_insert": BROWSER,
    "gateway/interfaces/http/logins.py:end": BROWSER,
    "gateway/interfaces/http/logins.py:follow_link": BROWSER,
    "gateway/interfaces/terminal/server_discovery.py:_open_and_chat": MACHINE,
}
"""Functions of surfaces that write all the same, each with its reason."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_no_surface_does_a_deed_itself() -> None:
    found = find_deeds(list_modules(("gateway", "agent_core")))
    assert {place: names for place, names in found.items() if place not in EXCEPTIONS} == {}
    assert [place for place in EXCEPTIONS if place not in found] == []


def test_a_deed_outside_is_found_however_it_is_reached() -> None:
    direct = """
from agent_core.state.people import people
def work(connection):
    people.set_model(connection, person_id=1, model="")
"""
    between = """
from gateway.people.admission import invite
async def ask(database):
    await database.write("people.invite", invite, "", "person:1", 0)
"""
    method = """
def work(connection, questions):
    questions.reopen(connection, 1, chat=None, expires_at=1, now=0)
"""
    by_operation = """
from gateway.operations import reading
async def end(database):
    await database.write("reading.end", reading.end, 1, "person:1", 0)
"""
    for text, writes in ((direct, 1), (between, 1), (method, 1), (by_operation, 0)):
        added = Module(path="gateway/interfaces/pages/added.py", text=text)
        found = find_deeds((*list_modules(("gateway", "agent_core")), added))
        assert len([place for place in found if "/added.py" in place]) == writes, text


def find_deeds(modules: tuple[Module, ...]) -> dict[str, list[str]]:
    """Return what writes to the state in each function of a surface, by `path:function`."""
    writers = _find_writers(tuple(one for one in modules if not one.path.startswith(SURFACES)))
    found: dict[str, list[str]] = {}
    for module in modules:
        if module.path.startswith(SURFACES):
            for function in _list_functions(module):
                names = sorted((_list_called(module, function) & writers) - NO_DEEDS.keys())
                if names:
                    found[f"{module.path}:{function.name}"] = names
    return found


@cache
def _find_writers(modules: tuple[Module, ...]) -> frozenset[str]:
    """Return the functions that change the state, directly or by others; operations are none."""
    writers = {
        f"{_name(module)}.{statement.place.rpartition('.')[2]}"
        for module in modules
        if module.path.startswith(STATE)
        for statement in list_statements(module)
        if statement.text.lstrip().startswith(CHANGES)
    }
    called: dict[str, set[str]] = {}
    for module in modules:
        if not module.path.startswith((OPERATIONS, ENGINE)):
            for node in module.tree.body:
                if isinstance(node, Function):
                    called[f"{_name(module)}.{node.name}"] = _list_called(module, node)
                elif isinstance(node, ast.ClassDef):
                    for method in node.body:
                        if isinstance(method, Function) and _takes_connection(method):
                            names = _list_called(module, method)
                            called.setdefault(f".{method.name}", set()).update(names)
    while more := {name for name, names in called.items() if names & writers} - writers:
        writers |= more
    return frozenset(writers - NO_DEEDS.keys())


def _list_functions(module: Module) -> Iterator[Function]:
    for node in module.tree.body:
        for inner in node.body if isinstance(node, ast.ClassDef) else (node,):
            if isinstance(inner, Function):
                yield inner


def _list_called(module: Module, function: Function) -> set[str]:
    """Return the whole names of what a function calls or hands on; a method's begins with a dot.

    A method counts if it is given the connection of a transaction.
    """
    known = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in module.nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            found.add(known.get(node.id, f"{_name(module)}.{node.id}"))
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in known:
            found.add(f"{known[ast.unparse(node.value)]}.{node.attr}")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first, owner = node.args[0], node.func.value
            is_module = isinstance(owner, ast.Name) and owner.id in known
            is_own = node.func.attr.startswith("_")
            if not (is_module or is_own) and ast.unparse(first) == "connection":
                found.add(f".{node.func.attr}")
    return found


def _takes_connection(method: Function) -> bool:
    return any(one.arg == "connection" for one in method.args.args)


def _name(module: Module) -> str:
    return module.path.removesuffix(".py").replace("/", ".")
