"""Maps Slack's error codes to platform errors; pure."""

from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    MessageGone,
    MessageLocked,
    NotPermitted,
    Rejected,
    Unreachable,
)

_TOKEN = frozenset(
    {"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"}
    | {"team_access_not_granted", "invalid_token", "user_removed_from_team"}
)
_CHAT_GONE = frozenset(
    {"channel_not_found", "is_archived", "not_in_channel", "cannot_dm_bot", "user_disabled"}
    | {"restricted_action", "restricted_action_read_only_channel", "user_not_found"}
    | {"restricted_action_thread_only_channel"}
    | {"invalid_channel", "users_not_found", "user_not_visible", "messages_tab_disabled"}
    | {"is_inactive", "channel_is_limited_access", "method_not_supported_for_channel_type"}
    | {"ekm_channel_access_denied", "used_url", "expired_url"}
)
"""The codes of a lost chat. A missing thread is not one: its channel still exists, so only the
message is rejected.
"""
_MESSAGE_GONE = frozenset({"message_not_found", "no_item_specified"})
_MESSAGE_LOCKED = frozenset(
    {"cant_update_message", "cant_delete_message", "edit_window_closed"}
    | {"message_not_owned_by_app", "cant_broadcast_message"}
)
_STREAM_OVER = frozenset({"message_not_in_streaming_state", "stopped_by_user"})
_UNWELL = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}
)
_PASSING = frozenset({"org_login_required", "external_channel_migrating", "ekm_access_denied"})
"""A workspace or channel that is being migrated or is temporarily read-only."""
_UNSUPPORTED = frozenset(
    {"unknown_method", "not_allowed", "feature_not_enabled", "feature_disabled", "access_denied"}
    | {"not_allowed_token_type", "method_deprecated", "deprecated_endpoint", "not_authorized"}
    | {"no_permission", "not_agent_app", "agent_not_enabled", "assistant_not_enabled"}
    | {"missing_recipient_user_id", "missing_recipient_team_id", "invalid_app"}
)

WHERE = {
    "SLACK_BOT_TOKEN": "the Bot User OAuth Token (xoxb-...) from OAuth & Permissions",
    "SLACK_APP_TOKEN": "an app-level token (xapp-...) from Basic Information",
}
"""The place of each token on the app's settings pages."""


class StreamOver(MessageLocked):
    """The message accepts no more streamed text; it can still be replaced as a whole."""


class StreamOpen(MessageLocked):
    """The message is still a stream, perhaps of an earlier process; the stream must be stopped
    first.
    """


class Unsupported(Rejected):
    """The workspace or the kind of app lacks this method."""


class MissingScope(Unsupported, NotPermitted):
    """The app lacks a permission."""


def read_refusal(
    code: str, *, needed: str = "", variable: str, unwell: type[AdapterError]
) -> AdapterError:
    """Map an error code.

    `needed` is the scope that Slack names, if any; `variable` names the token; `unwell` is raised
    for errors after which the call may have worked.
    """
    match code:
        case "missing_scope":
            return MissingScope(
                f'Slack\'s app lacks the permission "{needed or "(not named)"}". Add it on the '
                "app's page (for a bot token under OAuth & Permissions; for SLACK_APP_TOKEN under "
                "Basic Information), install the app again and start again."
            )
        case "streaming_state_conflict":
            return StreamOpen("Slack still shows the message as a stream.")
        case _ if code in _TOKEN:
            return token_refused(code, variable)
        case _ if code in _STREAM_OVER:
            return StreamOver(f"Slack takes no more words in this stream: {code}.")
        case _ if code in _CHAT_GONE:
            return ChatGone(f"Slack lets nobody be reached there: {code}.")
        case _ if code in _MESSAGE_GONE:
            return MessageGone(f"Slack: {code}.")
        case _ if code in _MESSAGE_LOCKED:
            return MessageLocked(f"Slack: {code}.")
        case _ if code in _UNSUPPORTED:
            return Unsupported(f"Slack has not got this here: {code}.")
        case _ if code in _PASSING:
            return Unreachable(f"Slack takes nothing there for a while: {code}.")
        case _ if code in _UNWELL:
            return unwell(f"Slack is unwell: {code}.")
        case _:
            return Rejected(f"Slack refuses this: {code or 'no reason given'}.")


def token_refused(code: str, variable: str) -> AdapterStopped:
    """Explain how to fix a rejected token."""
    return AdapterStopped(
        f"Slack does not take the token in {variable} ({code}). Copy {WHERE[variable]} of your "
        "app's page at api.slack.com/apps again, then restart Talaria."
    )


def read_status(status: int, unwell: type[AdapterError]) -> AdapterError:
    """Map an answer without JSON, which comes from a proxy or an unhealthy server."""
    if status >= 500:
        return unwell(f"Slack is unwell: status {status}.")
    if status in (401, 403, 407):
        return Unreachable(f"Something between here and Slack refuses: status {status}.")
    return unwell(f"Slack's answer can't be read (status {status}).")
