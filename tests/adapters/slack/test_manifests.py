"""The two manifests have exactly what the adapter needs."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.events import SHORTCUT

DOCS = Path(__file__).parents[3] / "docs"
CLASSIC, AGENT = "slack-manifest.json", "slack-manifest-agent.json"

HEARS = {
    "app_home_opened": "",
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "member_joined_channel": "channels:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
}
"""Events that `events` reads, and the scope without which Slack sends none."""
CALLS = {
    "chat.postMessage": {"chat:write"},
    "conversations.info": {"channels:read", "groups:read", "im:read", "mpim:read"},
    "conversations.history": {"channels:history", "groups:history", "im:history", "mpim:history"},
    "reactions.add": {"reactions:write"},
    "users.info": {"users:read"},
    "files.info": {"files:read"},
    "files.completeUploadExternal": {"files:write"},
    "slash commands": {"commands"},
    "posts to people who never wrote": {"im:write"},
}
"""What the adapter does, and the scopes that it needs for that (docs: each method's page)."""


def manifest(name: str) -> dict[str, Any]:
    found = json.loads((DOCS / name).read_text())
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("name", "more_events", "more_scopes"),
    [(CLASSIC, set(), set()), (AGENT, {"agent_session_stopped"}, {"assistant:write"})],
)
def test_every_event_and_scope_is_there_and_no_other(
    name: str, more_events: set[str], more_scopes: set[str]
) -> None:
    found = manifest(name)
    events = found["settings"]["event_subscriptions"]["bot_events"]
    scopes = found["oauth_config"]["scopes"]["bot"]
    assert sorted(events) == events
    assert set(events) == HEARS.keys() | more_events
    assert sorted(scopes) == scopes
    needed = {scope for scope in HEARS.values() if scope} | set().union(*CALLS.values())
    assert set(scopes) == needed | more_scopes


@pytest.mark.parametrize("name", [CLASSIC, AGENT])
def test_used_features_are_enabled(name: str) -> None:
    features, settings = manifest(name)["features"], manifest(name)["settings"]
    assert settings["socket_mode_enabled"]
    assert settings["interactivity"]["is_enabled"]
    assert features["app_home"] == {
        "home_tab_enabled": True,
        "messages_tab_enabled": True,
        "messages_tab_read_only_enabled": False,
    }
    (command,) = features["slash_commands"]
    assert (command["command"], command["should_escape"]) == ("/talaria", True)
    (shortcut,) = features["shortcuts"]
    assert (shortcut["type"], shortcut["callback_id"]) == ("message", SHORTCUT)


def test_only_one_manifest_declares_an_agent() -> None:
    assert "agent_view" in manifest(AGENT)["features"]
    assert "agent_view" not in manifest(CLASSIC)["features"]
