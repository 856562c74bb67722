"""Decide about actions by the owner's rules, earlier approvals, and the defaults."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from agent_core.state.conversations.page_fetches import name_site
from agent_core.tools.policy.contract import Action, ActionKind
from agent_core.tools.policy.paths import LISTED, OUTSIDE, SYSTEM, WORKSPACE
from agent_core.tools.policy.protected import Protected
from agent_core.tools.policy.shapes import shape_of
from agent_core.tools.policy.sites import site_of
from agent_core.tools.policy.transfers import fetches_plainly, host_of

VerdictKind = Literal["allow", "ask", "deny"]

WEB_FETCH = "web_fetch"
"""The tool that follows no redirect to another address after untrusted words."""

_FILES: frozenset[ActionKind] = frozenset(("read", "write", "delete", "run"))
_OWNERS_ALONE: frozenset[ActionKind] = frozenset(("install", "spend"))
MOST_FROM_PAGES = 5
"""Addresses from untrusted pages that a turn fetches from one site without a question.

A page that lists one address for each letter could spell out private words with more of them.
"""
_TERMINAL = "terminal"
_BY_COMMANDS = "*"
"""The site of all fetches by commands, which follow redirects to any host."""
_ORDER: Mapping[VerdictKind, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of the owner. `tool` and `pattern` are globs; `pattern` matches an action's target.

    `person` is an account such as `telegram:123`, or `*`.
    """

    effect: VerdictKind
    tool: str = "*"
    pattern: str = "*"
    person: str = "*"

    def fits(self, tool: str, action: Action, accounts: Sequence[str]) -> bool:
        """True if the rule covers this action and one of these accounts."""
        is_theirs = self.person == "*" or self.person in accounts
        return (
            is_theirs and fnmatchcase(tool, self.tool) and fnmatchcase(action.target, self.pattern)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts behind a decision. The defaults are the strictest values.

    `grants` maps each shape that the person allowed to whether it also holds after untrusted words.
    `known_addresses` are in the person's own messages, or in a result that the model has read;
    `page_addresses` are those only in results. `fetched` counts those that other calls of the turn
    have fetched, by the name that `name_site` gives to a site.
    """

    rules: tuple[Rule, ...] = ()
    protected: Protected = field(default_factory=Protected)
    accounts: tuple[str, ...] = ()
    slug: str = ""
    other_slugs: frozenset[str] = frozenset()
    is_owner: bool = False
    is_tainted: bool = False
    """True if the turn has read untrusted words, and holds private data."""
    grants: Mapping[str, bool] = field(default_factory=dict)
    known_addresses: frozenset[str] = frozenset()
    page_addresses: frozenset[str] = frozenset()
    fetched: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The decision about a call. `asked` are the actions that a person has to allow.

    `denied` is the target that nobody may allow. `needs_owner` means that only an owner may allow
    the call. `is_tainted` means that the person is asked because of untrusted words, and `is_over`
    because the turn has fetched too many addresses of pages. A call that `is_offline` may run, but
    without the network that a list of hosts bounds. `fetched` counts the addresses from
    pages that the call fetches; see `Facts`.
    """

    effect: VerdictKind
    asked: tuple[Action, ...] = ()
    shapes: tuple[str, ...] = ()
    """The shapes of the asked actions; () if one of them has none."""
    denied: str = ""
    needs_owner: bool = False
    is_tainted: bool = False
    is_over: bool = False
    is_offline: bool = False
    fetched: Mapping[str, int] = field(default_factory=dict)


def judge(tool: str, actions: Sequence[Action], facts: Facts, *, is_proposed: bool) -> Verdict:
    """Decide about the actions of one call.

    `is_proposed` is true for a tool whose changes are proposed after untrusted words.
    """
    for action in actions:
        if closed := facts.protected.find(action, facts.slug, facts.other_slugs):
            return Verdict(effect="deny", denied=closed)
    effect: VerdictKind = "allow"
    asked: dict[Action, bool] = {}
    exceeds = is_offline = False
    fetched = Counter[str]()
    for action in actions:
        sites = _count_sites(tool, action, facts)
        is_over = any(
            facts.fetched.get(site, 0) + fetched[site] >= MOST_FROM_PAGES for site in sites
        )
        one, is_guarded = _judge_one(tool, action, facts, is_over=is_over, is_proposed=is_proposed)
        fetched.update(sites)
        if one == "deny":
            return Verdict(effect="deny", denied=action.target)
        if one == "ask" and is_guarded and _may_run_offline(tool, action, facts):
            one, is_offline = "allow", True
        if one == "ask":
            exceeds = exceeds or is_over
            asked[action] = asked.get(action, False) or is_guarded
        effect = max(effect, one, key=_ORDER.__getitem__)
    shapes = [shape_of(tool, one, is_guarded=guarded) for one, guarded in asked.items()]
    return Verdict(
        effect=effect,
        asked=tuple(asked),
        shapes=tuple(dict.fromkeys(shapes)) if all(shapes) else (),
        needs_owner=not facts.is_owner and any(_is_owners_alone(action) for action in asked),
        is_tainted=any(asked.values()),
        is_over=exceeds,
        is_offline=is_offline and effect == "allow",
        fetched=fetched,
    )


def _may_run_offline(tool: str, action: Action, facts: Facts) -> bool:
    """Return whether a command that was allowed for good may run without its network.

    Untrusted words may have changed the files that it runs, so nothing may leave.
    """
    if action.place != LISTED or tool != _TERMINAL:
        return False
    return shape_of(tool, action, is_guarded=True) in facts.grants


def _count_sites(tool: str, action: Action, facts: Facts) -> tuple[str, ...]:
    """Return the names of the sites for which an action counts, if a page chose its address."""
    if not facts.is_tainted or action.kind != "fetch" or not action.is_outward:
        return ()
    if normalize_address(action.target) not in facts.page_addresses:
        return ()
    sites = (site_of(action.target), *((_BY_COMMANDS,) if tool != WEB_FETCH else ()))
    return tuple(map(name_site, sites))


def _judge_one(
    tool: str, action: Action, facts: Facts, *, is_over: bool, is_proposed: bool
) -> tuple[VerdictKind, bool]:
    """Decide about one action; the second value is true if untrusted words matter for it.

    `is_over` means that the turn has fetched too many addresses of pages to fetch one more.
    """
    rule = next((one for one in facts.rules if one.fits(tool, action, facts.accounts)), None)
    is_guarded = facts.is_tainted and (
        is_over or _is_dangerous(action, facts, is_proposed=is_proposed)
    )
    if rule and rule.effect == "deny":
        return "deny", False
    if _is_granted(tool, action, facts, is_guarded=is_guarded):
        return "allow", is_guarded
    if is_guarded:
        return "ask", True
    return rule.effect if rule else _default(action), False


def _is_granted(tool: str, action: Action, facts: Facts, *, is_guarded: bool) -> bool:
    """Return whether an approval covers an action; after untrusted words, few do."""
    exact = shape_of(tool, action, is_guarded=True)
    if is_guarded:  # a program behind a wall runs what untrusted words may have written
        return action.place != LISTED and facts.grants.get(exact, False)
    return exact in facts.grants or shape_of(tool, action) in facts.grants


def _default(action: Action) -> VerdictKind:
    """Decide about an action that no rule covers."""
    if action.kind in _FILES:
        is_harmless = action.place == WORKSPACE or (
            action.place == SYSTEM and action.kind in ("read", "run")
        )
        return "allow" if is_harmless and not action.is_outward else "ask"
    if action.kind == "send":
        return "ask" if action.is_outward else "allow"
    if action.kind == "install":
        return "ask" if action.is_outward or action.place != WORKSPACE else "allow"
    return "ask" if action.kind in ("spend", "use") else "allow"


def _is_dangerous(action: Action, facts: Facts, *, is_proposed: bool) -> bool:
    """True for an action that could send private data away, or store untrusted words."""
    if action.kind == "fetch":
        # A search query reaches only the engine that the owner chose; an address reaches any host.
        address = normalize_address(action.target)
        is_known = address in facts.known_addresses and _is_plain(action)
        return action.is_outward and not is_known
    if action.kind == "change":
        return not is_proposed
    return action.is_outward or action.kind in ("install", "spend", "use")


def _is_plain(action: Action) -> bool:
    """Return whether a fetch carries no more than its address.

    A loop, a condition or an option of a command may carry private data by itself.
    """
    return not action.within or fetches_plainly(action.within, action.target)


def _is_owners_alone(action: Action) -> bool:
    is_outside = action.kind in _FILES and action.place == OUTSIDE
    return action.kind in _OWNERS_ALONE or is_outside


def normalize_address(url: str) -> str:
    """Return an address in a form for comparing: with a scheme, and without a fragment.

    The host is in lower case. Every other difference stays, because a difference can carry data.
    """
    text = url if "://" in url else f"https://{url}"
    scheme, _, rest = text.partition("#")[0].partition("://")
    authority, slash, path = rest.partition("/")
    host = host_of(text)
    if not host or authority.casefold() != host.casefold():
        return text  # an address with credentials, or none at all, equals only itself
    return f"{'https' if scheme == 'http' else scheme}://{authority.casefold()}{slash or '/'}{path}"
