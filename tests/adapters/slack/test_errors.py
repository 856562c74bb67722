"""Every refusal of Slack or its SDK maps to an error of this package, with a sentence."""

import inspect

import pytest
import slack_sdk.errors
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    MessageGone,
    MessageLocked,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.slack.api import Api, translate
from adapters.slack.errors import read_refusal
from adapters.toolkit.text import text_in
from tests.adapters.slack.rig import ANNA, Rig, settings_for, to
from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator

CODES: dict[str, type[AdapterError]] = {
    "channel_not_found": ChatGone,
    "is_archived": ChatGone,
    "not_in_channel": ChatGone,
    "cannot_dm_bot": ChatGone,
    "user_disabled": ChatGone,
    "restricted_action": ChatGone,
    "message_not_found": MessageGone,
    "cant_update_message": MessageLocked,
    "edit_window_closed": MessageLocked,
    "msg_too_long": Rejected,
    "invalid_blocks": Rejected,
    "no_text": Rejected,
    "thread_not_found": Rejected,
    "something_new": Rejected,
    "missing_scope": Rejected,
    "invalid_auth": AdapterStopped,
    "not_authed": AdapterStopped,
    "token_revoked": AdapterStopped,
    "account_inactive": AdapterStopped,
    "org_login_required": Unreachable,
    "ekm_access_denied": Unreachable,
    "external_channel_migrating": Unreachable,
    "internal_error": Unsure,
    "ratelimited": RateLimited,
}


CLASSES: list[type[SlackClientError]] = [
    found
    for _, found in inspect.getmembers(slack_sdk.errors, inspect.isclass)
    if issubclass(found, SlackClientError)
]


def test_every_class_of_the_sdk_is_known() -> None:
    assert {found.__name__ for found in CLASSES} == {
        "BotUserAccessError",
        "SlackApiError",
        "SlackClientConfigurationError",
        "SlackClientError",
        "SlackClientNotConnectedError",
        "SlackObjectFormationError",
        "SlackRequestError",
        "SlackTokenRotationError",
    }


@pytest.mark.parametrize("found", CLASSES, ids=lambda found: found.__name__)
def test_every_class_of_the_sdk_is_mapped(found: type[SlackClientError]) -> None:
    error = found("x") if found is not SlackApiError else api_error(200, {"error": "no_text"})
    assert isinstance(translate(error, lost=Unsure), AdapterError)


def api_error(status: int, data: object, **headers: str) -> SlackApiError:
    answer = AsyncSlackResponse(
        client=None,
        http_verb="POST",
        api_url="",
        req_args={},
        data=data,  # type: ignore[arg-type]
        headers=headers,
        status_code=status,
    )
    return SlackApiError("x", answer)


@pytest.mark.parametrize(
    ("status", "data", "expected"),
    [
        (503, "upstream connect error", Unsure),
        (500, {}, Unsure),
        (200, {}, Unsure),
        (403, "a proxy's page", Unreachable),
        (429, {}, RateLimited),
    ],
)
def test_responses_without_slacks_json_are_distinguished(
    status: int, data: object, expected: type[AdapterError]
) -> None:
    assert type(translate(api_error(status, data), lost=Unsure)) is expected


@pytest.mark.parametrize("code", CODES)
async def test_every_refusal_of_a_post_is_mapped(rig: Rig, code: str) -> None:
    rig.slack.fail("chat.postMessage", kind=faults.ERROR, code=code)
    with pytest.raises(AdapterError, match=r"^[A-Z].*\.$") as caught:
        await rig.adapter.send(to(rig.slack.dm(ANNA), "hello"))
    assert isinstance(caught.value, CODES[code])
    assert not isinstance(caught.value, Unsure) or CODES[code] is Unsure


async def test_a_rate_limit_has_slacks_length(rig: Rig) -> None:
    rig.slack.fail("chat.update", kind=faults.LIMIT, retry_after=17)
    sent = await rig.adapter.send(to(rig.slack.dm(ANNA), "hello"))
    with pytest.raises(RateLimited) as caught:
        await rig.adapter.edit(to(rig.slack.dm(ANNA), "bye"), sent)
    assert caught.value.retry_after == 17


async def test_a_server_error_leaves_a_post_unknown_and_an_edit_undone(rig: Rig) -> None:
    sent = await rig.adapter.send(to(rig.slack.dm(ANNA), "hello"))
    rig.slack.fail("chat.postMessage", kind=faults.UNWELL)
    rig.slack.fail("chat.update", kind=faults.UNWELL)
    with pytest.raises(Unsure):
        await rig.adapter.send(to(rig.slack.dm(ANNA), "again", key="k2"))
    with pytest.raises(Unreachable):
        await rig.adapter.edit(to(rig.slack.dm(ANNA), "bye"), sent)


async def test_nothing_is_sent_twice_by_the_sdk(rig: Rig) -> None:
    rig.slack.fail("chat.postMessage", kind=faults.DROP)
    with pytest.raises(Unsure):
        await rig.adapter.send(to(rig.slack.dm(ANNA), "hello"))
    assert [name for name, _ in rig.slack.calls].count("chat.postMessage") == 1


async def test_an_unreadable_response_leaves_the_delivery_unknown(slack: SlackEmulator) -> None:
    async with Api(settings_for(slack)) as api:
        with pytest.raises(Unsure, match="can't be read"), api.client(lost=Unsure):
            text_in({"ts": 7}, "ts")


def test_a_missing_permission_is_named() -> None:
    found = read_refusal(
        "missing_scope", needed="files:write", variable="SLACK_BOT_TOKEN", unwell=Unsure
    )
    assert '"files:write"' in str(found)


async def test_an_address_of_another_platform_is_refused(rig: Rig) -> None:
    with pytest.raises(Rejected, match="no channel of Slack"):
        await rig.adapter.send(to("-100/7", "hello"))
