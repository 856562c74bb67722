"""Outbox messages become payloads that Discord's API accepts."""

import pytest

from adapters.abilities import MenuEntry
from adapters.discord.payloads import (
    fingerprint,
    make_acknowledgement,
    make_content,
    make_menu,
    make_message,
    make_nonce,
)
from adapters.discord.places import read_place
from adapters.errors import Rejected
from adapters.ids import Address
from adapters.messages import Button, OutboundFile
from tests.adapters.discord.raw import BOT, used, used_in_room
from tests.adapters.discord.rig import queued

THREAD = Address(chat_id="400", thread_id="450", is_direct=False)


def test_only_the_person_answered_is_pinged() -> None:
    assert make_message(queued(THREAD, "x"), bot=BOT)["allowed_mentions"] == {
        "parse": [],
        "replied_user": False,
    }
    made = make_message(queued(THREAD, "x", reply_to="460"), bot=BOT)
    assert made["allowed_mentions"] == {"parse": [], "replied_user": True}
    assert made["message_reference"] == {"message_id": "460", "fail_if_not_exists": False}


@pytest.mark.parametrize("reply_to", ["450", "i460", "1700000000.000100", "", None])
def test_a_reply_needs_a_message_of_the_channel(reply_to: str | None) -> None:
    assert "message_reference" not in make_message(queued(THREAD, "x", reply_to=reply_to), bot=BOT)


def test_links_get_no_previews_and_silence_is_a_flag() -> None:
    assert make_message(queued(THREAD, "x"), bot=BOT)["flags"] == 4
    assert make_message(queued(THREAD, "x", is_silent=True), bot=BOT)["flags"] == 4 | 4096
    assert make_content(queued(THREAD, "x", is_silent=True))["flags"] == 4


def test_a_nonce_is_short_and_unique_per_message_and_bot() -> None:
    nonces = {make_nonce(f"key {n}", bot=bot) for n in range(100) for bot in ("1", "2")}
    assert len(nonces) == 200
    assert all(len(nonce) <= 25 for nonce in nonces)
    made = make_message(queued(THREAD, "x", "key 7"), bot="1")
    assert (made["nonce"], made["enforce_nonce"]) == (make_nonce("key 7", bot="1"), True)
    assert "nonce" not in make_message(queued(THREAD, "x", ""), bot="1")


def test_buttons_stand_in_rows_of_five() -> None:
    buttons = tuple(Button(key=f"k{n}", label=f"L{n}", style="danger") for n in range(7))
    first, second = make_content(queued(THREAD, "x", buttons=buttons))["components"]
    assert [len(row["components"]) for row in (first, second)] == [5, 2]
    assert second["components"][1] == {"type": 2, "style": 4, "label": "L6", "custom_id": "t:k6"}
    assert make_content(queued(THREAD, "x"))["components"] == []
    many = tuple(Button(key=f"k{n}", label="L") for n in range(26))
    with pytest.raises(Rejected, match="25 buttons"):
        make_content(queued(THREAD, "x", buttons=many))


def test_an_empty_message_is_refused_unless_it_carries_a_file() -> None:
    with pytest.raises(Rejected, match="empty"):
        make_content(queued(THREAD, " \n"))
    file = OutboundFile(name="a.txt", media_type="text/plain", data=b"a")
    made = make_message(queued(THREAD, "", file=file), bot=BOT)
    assert (made["content"], made["attachments"]) == ("", [{"id": 0, "filename": "a.txt"}])


def test_menus_are_compared_in_any_form() -> None:
    entries = [
        MenuEntry(name="stop", description="Stop it"),
        MenuEntry(name="help", description="H" * 150),
        MenuEntry(name="claim", description="For owners", is_listed=False),
    ]
    made = make_menu(entries, is_for_users=True)
    assert len(made) == 2
    assert len(made[1]["description"]) == 100
    assert made[0]["contexts"] == [0, 1, 2]
    reported = [
        one | {"id": str(n), "version": "3", "nsfw": False, "contexts": [2, 1, 0]}
        for n, one in enumerate(reversed(made))
    ]
    assert fingerprint(reported) == fingerprint(made)
    assert fingerprint(reported[:1]) != fingerprint(made)
    assert fingerprint([]) != fingerprint(make_menu(entries, is_for_users=False))
    only_in_servers = make_menu(entries, is_for_users=False)
    assert (only_in_servers[0]["contexts"], only_in_servers[0]["integration_types"]) == (
        [0, 1],
        [0],
    )


def test_a_command_is_deferred_and_a_press_only_acknowledged() -> None:
    room = {"id": "400", "type": 0}
    place = read_place(room, guild_id="500")
    here = used_in_room(owners={"0": "500"}, permissions=1 << 11)
    elsewhere = used_in_room(owners={"1": "200"}, permissions=1 << 11)
    assert make_acknowledgement(here, place) == {"type": 5, "data": {"flags": 64}}
    assert make_acknowledgement(elsewhere, place) == {"type": 5, "data": {"flags": 64}}
    assert make_acknowledgement(used(), read_place({"id": "300", "type": 1})) == {"type": 5}
    assert make_acknowledgement(used(type=3), place) == {"type": 6}
