"""Sentences about calls and changes that wait for a yes, and the words of others behind them."""

from collections.abc import Mapping, Sequence

from agent_core.localization import Plural, Text, join_list
from agent_core.memory.approval import fence
from agent_core.tools.policy.approval_requests import ApprovalRequest, list_reach
from agent_core.tools.policy.contract import ActionKind
from agent_core.tools.policy.paths import LISTED
from agent_core.tools.policy.shapes import describe_shape, is_exact
from agent_core.tools.policy.verdicts import MOST_FROM_PAGES
from agent_core.transcript import UntrustedSource, split_source, strip_controls
from gateway.texts.excerpts import PAGE_BREAK, is_long, show_ends, squeeze
from gateway.texts.people import quote_name, quote_words

ACCEPT, DISMISS = Text("Accept"), Text("Dismiss")
ACCEPTED = Text("Accepted.")
DISMISSED = Text("Dismissed. Nothing has changed. To see it again, send /learned dismissed.")
BRING_BACK = Text("Bring back")
OUTDATED = Text(
    "I couldn't make this change, because things have changed since I suggested it. Ask me again."
)
CHANGED_SINCE = Text("This note has changed since you opened this page. Look at it again.")
_OUTDATED_SHOWN = Text("This is what you accepted:\n\n{change}")
_DONE = Text("Done:\n\n{change}")
_PROPOSAL = Text(
    "I've read {sources}, so I ask before I change anything. Shall I make this change?\n\n{change}"
)
_READ_BEFORE = Text("{body}\n\nBefore this, I had read {sources}.")
ONCE, SESSION = Text("Once"), Text("For this conversation")
ALWAYS = Text("Always for this kind")
NO, NO_AND_WHY = Text("No"), Text("No, and say why")
TELL_WHY = Text("I won't run it. Tell me why in your next message.")
NOTED = Text("I'll continue with that.")
_REVOKED = Text("From now on, I ask before this: `{shape}`")
REVOKE_UNKNOWN = Text("There's no approval with that number. /approvals lists them.")
REVOKE_NUMBER = Text("Revoke {number}")
NOTHING_ALLOWED = Text("You haven't allowed anything in advance, so I ask each time.")
_ALLOWED = Text("You've allowed these in advance. Choose one to revoke it.")
_ALLOWED_LINE = Text("{number}. `{shape}`, {scope}")
SCOPES = {"session": Text("for this conversation"), "always": Text("always")}
_CALL = Text(
    "Shall I run this with `{tool}`?\n\n{call}\n\nIt runs with the rights of {name}. What it can"
    " do:\n\n{reach}"
)
_LONG_CALL = Text(
    "Shall I run this with `{tool}`? The whole of it is in the message above. It begins and ends"
    " like this:\n\n{call}\n\nIt runs with the rights of {name}. What it can do:\n\n{reach}"
)
_WHOLE_CALL = Text("The next question is about this:\n\n{call}")
_UNJUDGED = Text("use the tool")
_UNTRUSTED = Text(
    "I'm asking because I've read {sources}. Text from others can't send or change"
    " anything without your approval."
)
_OVER = Text(
    "For this message, texts from others have already led me to {most} web addresses. Opening"
    " another one could give something private away to strangers."
)
_SHAPE = Text("“{always}” and “{session}” cover:\n\n{shapes}")
_EXACT_SHAPE = Text(
    "“{always}” and “{session}” allow exactly what is shown here. If any part of it"
    " differs, I ask again."
)
_OFFLINE = Text(
    "If you choose “{always}”, this runs without network access after I've read something"
    " from others. Files and outputs of commands count, too."
)
_PLACES = {
    "workspace": Text("in the workspace"),
    "outside": Text("outside the workspace"),
    "system": Text("in the system"),
    "anywhere": Text("to anyone"),
    LISTED: Text("to the allowed addresses"),
}
_REACHED: Mapping[ActionKind, Text] = {
    "read": Text("read {target} ({place})"),
    "write": Text("write {target} ({place})"),
    "delete": Text("delete {target} ({place})"),
    "run": Text("run {target} ({place})"),
    "fetch": Text("fetch {target} ({place})"),
    "send": Text("send ({place}): {target}"),
    "install": Text("install: {target} ({place})"),
    "spend": Text("spend money: {target} ({place})"),
    "change": Text("change {target} ({place})"),
    "use": Text("use the {target}, in the variable {place}"),
}
_REACHED_BY_CALL: Mapping[ActionKind, Text] = {
    "read": Text("read ({place})"),
    "write": Text("write ({place})"),
    "delete": Text("delete ({place})"),
    "run": Text("run ({place})"),
    "fetch": Text("fetch ({place})"),
    "send": Text("send ({place})"),
    "install": Text("install software ({place})"),
    "spend": Text("spend money ({place})"),
    "change": Text("change what is stored ({place})"),
    "use": Text("use the password or key named above, in the variable {place}"),
}
"""What a call can do whose words are shown above already."""
_MOST_NAMED = 3
_MORE = Plural("{n:,} more", "{n:,} more")
_NAMED = {
    "file": Text("the file {name}"),
    "quote": Text("a message from {name}"),
    "forward": Text("a message forwarded from {name}"),
    "fetched": Text("text from {name}"),
    "command": Text("the output of {name}"),
    "mcp": Text("text from the server {name}"),
    "client": Text("a request from your program {name}"),
    "skill": Text("the skill {name}"),
}
_PICTURE = Text("a picture")
_EVENT = Text("the event that started this reminder")
_TITLE = Text("the title of a group")
_EARLIER = Text("an earlier answer that uses other people's words")


def propose(change: str, sources: Sequence[UntrustedSource]) -> str:
    """Ask whether to make a change after words of others were read."""
    return _PROPOSAL(sources=name_sources(sources), change=fence(strip_controls(change)))


def describe_done(change: str) -> str:
    """Say what an accepted change took away and what it brought, both whole."""
    return _DONE(change=fence(strip_controls(change)))


def describe_outdated(change: str) -> str:
    """Say that an accepted change was not made, and show it if it is known."""
    if not change:
        return OUTDATED()
    return f"{OUTDATED()}\n\n{_OUTDATED_SHOWN(change=fence(strip_controls(change)))}"


def add_sources(question: str, sources: Sequence[UntrustedSource]) -> str:
    """Name the words of others behind a question, below it."""
    return _READ_BEFORE(body=question, sources=name_sources(sources)) if sources else question


def name_sources(sources: Sequence[UntrustedSource]) -> str:
    """Name the newest sources, and count the others."""
    newest = list(reversed(sources))
    names = [_name(source) for source in newest[:_MOST_NAMED]]
    more = len(newest) - _MOST_NAMED
    return join_list([*names, _MORE(more)] if more > 0 else names)


def _name(source: UntrustedSource) -> str:
    kind, name = split_source(source)
    if kind in _NAMED:
        return _NAMED[kind](name=quote_words(name.strip("“”")))
    return {"picture": _PICTURE, "event": _EVENT, "title": _TITLE}.get(kind, _EARLIER)()


def ask_for_call(request: ApprovalRequest, name: str) -> str:
    """Ask whether to run exactly this call, with everything that it can reach."""
    shown = squeeze(request.shown)
    reach = [
        _REACHED[kind](target=target, place=_name_place(place))
        if target
        else _REACHED_BY_CALL[kind](place=_name_place(place))
        for kind, target, place in list_reach(request.asked, request.shown)
    ]
    reached = squeeze("\n".join(reach or [_UNJUDGED()]))
    covered = _list_covered(request)
    long = [one for one in (shown, reached, covered) if is_long(one)]
    parts = [
        (_LONG_CALL if long else _CALL)(
            tool=request.tool,
            call=fence(_fit(shown)),
            name=quote_name(name),
            reach=fence(_fit(reached)),
        )
    ]
    if request.is_tainted:
        parts.append(_UNTRUSTED(sources=name_sources(request.sources)))
    if request.is_over:
        parts.append(_OVER(most=MOST_FROM_PAGES))
    if request.shapes:
        parts.append(_describe_shapes(covered))
    if request.shapes and request.is_walled:
        parts.append(_OFFLINE(always=ALWAYS()))
    question = "\n\n".join(parts)
    if not long:
        return question
    whole = "\n\n".join(map(fence, long))
    return f"{_WHOLE_CALL(call=whole)}{PAGE_BREAK}{question}"


def _fit(text: str) -> str:
    """Return a text that leaves the rest of a question in sight."""
    return show_ends(text) if is_long(text) else text


def _list_covered(request: ApprovalRequest) -> str:
    """List what more than one call would be allowed; "" for exactly this call."""
    if all(map(is_exact, request.shapes)):
        return ""
    return squeeze("\n".join(map(describe_shape, request.shapes)))


def _describe_shapes(covered: str) -> str:
    """Tell what more than one call would be allowed."""
    if not covered:
        return _EXACT_SHAPE(always=ALWAYS(), session=SESSION())
    return _SHAPE(always=ALWAYS(), session=SESSION(), shapes=fence(_fit(covered)))


def list_allowed(allowed: Sequence[tuple[int, str, str]]) -> str:
    """List what is allowed in advance: number, shape and scope of each."""
    lines = [
        _ALLOWED_LINE(number=number, shape=describe_shape(shape), scope=SCOPES[scope]())
        for number, shape, scope in allowed
    ]
    return "\n".join([_ALLOWED(), *lines])


def describe_revoked(shape: str) -> str:
    """Confirm that a shape is no longer allowed in advance."""
    return _REVOKED(shape=describe_shape(shape))


def _name_place(place: str) -> str:
    return _PLACES[place]() if place in _PLACES else place
