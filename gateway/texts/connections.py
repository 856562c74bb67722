"""Sentences about people's accounts at MCP servers."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from agent_core.localization import Text
from agent_core.tools.clock import ReaderClock
from agent_core.tools.mcp.accounts import SignInOutcome
from agent_core.tools.mcp.sign_ins import SignInReport

CONNECT, END = Text("Connect {name}"), Text("Disconnect {name}")
NOTHING = Text("There's no service here that you can connect an account to. An owner can add one.")
UNKNOWN = Text(
    "There's no service called “{name}” that you can connect to. /connections lists them."
)
USAGE = Text("Send /connections to see your connections, and choose one there.")
_CONNECTED = Text("- {name} ({host}): connected since {date}, with your own account")
_SHARED = Text(
    "- {name} ({host}): connected since {date}; everyone here uses this account of yours"
)
_OPEN = Text("- {name} ({host}): not connected")
_OPEN_SHARED = Text(
    "- {name} ({host}): not connected. If you connect it, everyone here uses your account"
)
_GONE = Text("- {name}: connected since {date}, but it's no longer set up here")
LINK = Text(
    "Open this page on {host} and sign in with your own account for {name}. The link is only for"
    " you:\n\n{url}\n\nAt the end, your browser shows a page that doesn't load. Send me its address"
    " within 15 minutes: /connections ADDRESS."
)
LINK_ELSEWHERE = Text("I've sent you a link in our direct chat.")
NO_CHAT = Text(
    "I need a direct chat with you to send the link. Write to me directly, and send /connections"
    " there."
)
NO_LINK = {
    "unknown": UNKNOWN,
    "not_configured": Text(
        "You can't sign in to {name} yet. An owner first needs to add `oauth = true` to its"
        " settings in config.toml."
    ),
    "owners_only": Text("Everyone here uses one account at {name}. Ask an owner to connect it."),
    "connected": Text(
        "The service “{name}” is connected already. /connections lets you disconnect it."
    ),
    "not_offered": Text(
        "The service “{name}” has no page for signing in at the moment. Try again in a minute."
    ),
    "busy": Text("Too many people are connecting right now. Try again in a minute."),
}
_NO_ADDRESS = Text(
    "I'm not expecting that address, or its link has expired. /connections gives you a new link."
)
_FOREIGN = Text(
    "That address belongs to another link, so I didn't use it. Open the newest link that I sent"
    " you, and sign in there."
)
_IN = Text("The service “{name}” is connected. From now on, I use your account there.")
_LATE = Text(
    "The service “{name}” is taking a long time to answer. Send /connections later to see"
    " whether it is connected."
)
_FAILED = Text("I couldn't connect the service “{name}”. Details: “{details}”")
ENDED = Text(
    "The service “{name}” is disconnected, and I've deleted my access to your account there."
)
NOT_CONNECTED = Text(
    "You aren't connected to the service “{name}”. /connections lists your connections."
)


CONNECTIONS = Text("Connected accounts")
ABOUT = Text(
    "Other services give me more tools, for example for your mail. There I use your own account,"
    " and only for you."
)
NOT_SIGNED_IN, SIGNED_IN = Text("not connected"), Text("connected since")
SHARED = Text("Everyone here uses this account.")
GONE = Text("This service is no longer set up here.")
OPEN_PAGE = Text("Sign in on {host}")
THEN_PASTE = Text(
    "Sign in with your own account for {name}. At the end, your browser shows a page that doesn't"
    " load. Copy its address, and paste it here within 15 minutes."
)
ADDRESS, FINISH = Text("Address"), Text("Connect")
SERVERS = Text("All services")
ACCEPT_NAMED, RETRY_NAMED = Text("Accept: {name}"), Text("Try again: {name}")


def list_connections(reports: Sequence[SignInReport], clock: ReaderClock) -> str:
    """List the servers that a person can connect to."""
    return "\n".join(_describe(one, clock) for one in reports) or NOTHING()


def describe_link(name: str, link: str) -> str:
    """Tell a person how to sign in at a server."""
    host = urlsplit(link).hostname or ""
    return LINK(name=name, host=f"`{host}`", url=link)


def describe_outcome(outcome: SignInOutcome) -> str:
    """Say how a sign-in ended."""
    name = outcome.server
    if outcome.taken != "taken":
        return _FOREIGN() if outcome.taken == "foreign" else _NO_ADDRESS()
    if outcome.is_ready:
        return _IN(name=name)
    if not outcome.fault:
        return _LATE(name=name)
    return _FAILED(name=name, details=f"{name} {outcome.fault}.")


def _describe(report: SignInReport, clock: ReaderClock) -> str:
    name, host = report.server, f"`{report.host}`"
    if report.signed_in_at is None:
        return (_OPEN_SHARED if report.is_shared else _OPEN)(name=name, host=host)
    date = clock.show_day(report.signed_in_at)
    if not report.host:
        return _GONE(name=name, date=date)
    return (_SHARED if report.is_shared else _CONNECTED)(name=name, host=host, date=date)
