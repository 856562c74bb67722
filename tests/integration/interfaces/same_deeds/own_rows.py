"""Deeds about oneself: settings, accounts, webhooks and data."""

from typing import Any

from agent_core.ids import RoomId
from agent_core.state.people import people, reading_consents, rooms
from agent_core.state.people.people import NewAccount
from agent_core.state.webhooks import deliveries, webhooks
from gateway.operations import reading
from gateway.people.reading_consent import ReadingConsent
from tests.integration.interfaces.api_setup import OLGA
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.interfaces.same_deeds.memory_rows import look_at_entries, remember
from tests.integration.interfaces.same_deeds.owner_rows import admit, look_at_guest
from tests.integration.interfaces.same_deeds.surfaces import Do, Row, Surfaces


async def look_at_zone(here: Surfaces, _: str) -> Any:
    olga = await here.olga()
    return (await here.read(people.find, person_id=olga.id)).time_zone


async def look_at_room(here: Surfaces, number: str) -> Any:
    room = await here.read(rooms.find_by_id, room_id=RoomId(int(number)))
    return room.mode, room.name


async def look_at_webhook(here: Surfaces, number: str) -> Any:
    given = {"person_id": (await here.olga()).id}
    found = await here.read(webhooks.list_of, **given)
    removed = await here.read(webhooks.list_removed, **given)
    return [one.state for one in found if str(one.id) == number] or (
        number in [str(one.id) for one in removed] and "removed"
    )


async def look_at_new_webhook(here: Surfaces, name: str) -> Any:
    found = await here.read(webhooks.list_of, person_id=(await here.olga()).id)
    return [(one.state, one.kinds) for one in found if one.name == name]


async def forget_zone(here: Surfaces, name: str) -> str:
    await here.ask("PATCH", "/settings", {"time_zone": ""})
    return name


async def make_room(here: Surfaces, name: str) -> str:
    made = await here.write(
        lambda c: rooms.insert(c, platform="fake", chat_id=name, title=name, slug=name, now=1)
    )
    return str(made.id)


async def say_in_room(here: Surfaces, number: str, words: str) -> None:
    room = await here.read(rooms.find_by_id, room_id=RoomId(int(number)))
    await here.chat(words, chat=room.chat_id, direct=False, addressed=True)


async def make_webhook(here: Surfaces, name: str) -> str:
    body = {"name": name, "url": "https://localhost/x", "kinds": ["turn.ended"]}
    return str((await here.ask("POST", "/webhooks", body))["id"])


def on_webhook(verb: str, left: object, ready: Do) -> Row:
    api = {"remove": ("DELETE", "")}.get(verb, ("POST", f"/{verb}"))
    return Row(
        deed="Send events to a program (webhooks)",
        ready=ready,
        by={
            "page": lambda here, number: here.post(f"/webhooks/{number}/{verb}"),
            "terminal": lambda here, number: here.run("webhooks", verb, number),
            "api": lambda here, number: here.ask(api[0], f"/webhooks/{number}{api[1]}"),
        },
        look=look_at_webhook,
        left=left,
    )


async def look_at_verbosity(here: Surfaces, _: str) -> Any:
    olga = await here.olga()
    return (await here.read(people.find, person_id=olga.id)).verbosity


async def look_at_secret(here: Surfaces, one: str) -> Any:
    """Look whether a webhook signs with another secret than it did."""
    number, _, former = one.partition(" ")
    found = await here.read(webhooks.list_of, person_id=(await here.olga()).id)
    return [each.secret != former for each in found if str(each.id) == number]


async def look_at_kinds(here: Surfaces, number: str) -> Any:
    found = await here.read(webhooks.list_of, person_id=(await here.olga()).id)
    return [each.kinds for each in found if str(each.id) == number]


async def look_at_deliveries(here: Surfaces, one: str) -> Any:
    """Look what was sent to a webhook."""
    number = one.split()[0]
    own = await here.read(webhooks.list_of, person_id=(await here.olga()).id)
    (webhook,) = [each for each in own if str(each.id) == number]
    found = await here.read(deliveries.list_of, webhook=webhook, before=2**62, limit=9)
    return [(each.kind, each.state) for each in found]


async def look_at_repeat(here: Surfaces, one: str) -> Any:
    """Look whether an event was sent again."""
    number, delivery, ended_at = one.split()
    own = await here.read(webhooks.list_of, person_id=(await here.olga()).id)
    (webhook,) = [each for each in own if str(each.id) == number]
    found = await here.read(deliveries.list_of, webhook=webhook, before=2**62, limit=9)
    (sent,) = [each for each in found if str(each.id) == delivery]
    return sent.state == "sent" and str(sent.ended_at) != ended_at


async def look_at_link(here: Surfaces, former: str) -> Any:
    found = await here.read(lambda c: c.execute("SELECT * FROM login_links").fetchall())
    return str(found) != former


async def look_at_consent(here: Surfaces, _: str) -> Any:
    olga, now = await here.olga(), here.setup.served.gateway.now()
    found = await here.read(reading_consents.list_of, person_id=olga.id, now=now)
    return len(found)


async def look_at_account(here: Surfaces, user: str) -> Any:
    found = await here.read(people.find_by_account, platform="fake", user_id=user)
    return found.id == (await here.olga()).id


async def speak_normally(here: Surfaces, name: str) -> str:
    await here.ask("PATCH", "/settings", {"verbosity": "normal"})
    return name


async def clear_webhooks(here: Surfaces, name: str) -> str:
    """Remove all webhooks, of which there may be only so many."""
    for one in await here.read(webhooks.list_of, person_id=(await here.olga()).id):
        await here.ask("DELETE", f"/webhooks/{one.id}")
    return name


async def make_lonely_webhook(here: Surfaces, name: str) -> str:
    return await make_webhook(here, await clear_webhooks(here, name))


async def make_paused_webhook(here: Surfaces, name: str) -> str:
    number = await make_lonely_webhook(here, name)
    await here.ask("POST", f"/webhooks/{number}/pause")
    return number


async def make_removed_webhook(here: Surfaces, name: str) -> str:
    number = await make_lonely_webhook(here, name)
    await here.ask("DELETE", f"/webhooks/{number}")
    return number


async def make_secret_webhook(here: Surfaces, name: str) -> str:
    number = await make_lonely_webhook(here, name)
    found = await here.read(webhooks.list_of, person_id=(await here.olga()).id)
    return f"{number} {next(one.secret for one in found if str(one.id) == number)}"


async def make_heard_webhook(here: Surfaces, name: str) -> str:
    await clear_webhooks(here, name)
    body = {"name": name, "url": here.receiver, "kinds": ["turn.ended"]}
    return str((await here.ask("POST", "/webhooks", body))["id"])


async def make_tested_webhook(here: Surfaces, name: str) -> str:
    """Send a test; the number of the webhook, and of the delivery."""
    number = await make_heard_webhook(here, name)
    await here.run("webhooks", "test", number)
    (sent,) = (await here.ask("GET", f"/webhooks/{number}/deliveries"))["deliveries"]
    return f"{number} {sent['id']} {sent['ended_at']}"


async def keep_link(here: Surfaces, name: str) -> str:
    return str(await here.read(lambda c: c.execute("SELECT * FROM login_links").fetchall()))


async def remember_only(here: Surfaces, name: str) -> str:
    await remember(here, name)
    return name


async def allow_reading(here: Surfaces, name: str) -> str:
    olga, zebrana = await here.olga(), await here.find("zebrana")
    await here.write(
        lambda c: reading_consents.insert(
            c, person_id=olga.id, reader_id=zebrana.id, now=here.now(), expires_at=2**50
        )
    )
    return name


async def ask_to_read(here: Surfaces, name: str) -> str:
    """Let Zebrana ask to read what Olga says; the number of the question."""
    gateway = here.setup.served.gateway
    consent = ReadingConsent(gateway.questions, gateway.platforms.adapters)
    olga, zebrana = await here.olga(), await here.find("zebrana")
    await here.write(lambda c: people.make_owner(c, person_id=zebrana.id))
    await here.post("/reading/end")
    rows = await here.write(lambda c: reading.ask(c, consent, zebrana, olga.id, here.now()))
    gateway.dispatcher.enqueue(rows)
    found = await here.ask("GET", "/questions")
    return str(found["questions"][-1]["id"])


async def add_account(here: Surfaces, name: str) -> str:
    """Link another account of the chat."""
    olga = await here.olga()
    await here.write(
        lambda c: people.attach_account(
            c,
            NewAccount(platform="fake", user_id=name, display_name=name, admitted_by="code"),
            person_id=olga.id,
            now=here.now(),
        )
    )
    here.setup.served.gateway.forget_known()
    return name


async def unlink_on_page(here: Surfaces, name: str) -> None:
    """Unlink an account with a login of its own, because it ends with that."""
    async with browse_as(here.setup.served, here.setup.chat, OLGA) as page:
        account = await here.read(people.find_account, platform="fake", user_id=name)
        await here.on(page).post(f"/accounts/{account.id}/unlink")


async def erase_in_chat(here: Surfaces, one: str) -> None:
    """Ask for it as a guest, and answer both questions."""
    user, chat = one.split()[-1], here.setup.chat
    await here.chat("/erase me", user=user, chat=user)
    for label in ("Delete", "Delete permanently"):
        await chat.until(lambda label=label: any(label in each.labels for each in chat.shown))
        await chat.press(label, user=user, chat=user, name="X")


async def erase_on_page(here: Surfaces, one: str) -> None:
    async with browse_as(here.setup.served, here.setup.chat, one.split()[-1]) as page:
        await here.on(page).post("/data/erase", name="X")


async def forget_in_chat(here: Surfaces, name: str) -> None:
    chat, seen = here.setup.chat, await here.chat(f"/forget {name}")
    await chat.until(lambda: any(each.labels for each in chat.shown[seen:]))
    await here.press(next(each.labels[0] for each in chat.shown[seen:] if each.labels))


def watch(verb: str, ready: Do, look: Do, left: object, page: str, *words: str) -> Row:
    """Do something to a webhook and what it sends."""
    return Row(
        deed="Send events to a program (webhooks)",
        ready=ready,
        by={
            "page": lambda here, one: here.post(page.format(*one.split())),
            "terminal": lambda here, one: here.run(
                "webhooks", verb, *one.split()[: len(words) + 1]
            ),
            "api": lambda here, one: here.ask("POST", page.format(*one.split())),
        },
        look=look,
        left=left,
    )


ROWS = (
    Row(
        deed="Choose how a group is answered",
        ready=make_room,
        by={
            "chat": lambda here, room: say_in_room(here, room, "/room room"),
            "page": lambda here, room: here.post(f"/people/rooms/{room}", mode="room"),
            "terminal": lambda here, room: here.run("rooms", "set", room, "room"),
            "api": lambda here, room: here.ask("PATCH", f"/rooms/{room}", {"mode": "room"}),
        },
        look=look_at_room,
        left=("room", ""),
    ),
    Row(
        deed="Choose how a group is answered",
        ready=make_room,
        by={
            "chat": lambda here, room: say_in_room(here, room, "/room name Altos"),
            "page": lambda here, room: here.post(f"/people/rooms/{room}", name="Altos"),
            "terminal": lambda here, room: here.run("rooms", "name", room, "Altos"),
            "api": lambda here, room: here.ask("PATCH", f"/rooms/{room}", {"name": "Altos"}),
        },
        look=look_at_room,
        left=("person", "Altos"),
    ),
    Row(
        deed="Send events to a program (webhooks)",
        by={
            "page": lambda here, name: here.post(
                "/webhooks/add", name=name, url="https://localhost/x", kinds="turn.ended"
            ),
            "terminal": lambda here, name: here.run(
                *("webhooks", "add", name, "--person", "olga", "--url", "https://localhost/x"),
                *("--events", "turn.ended"),
            ),
            "api": make_webhook,
        },
        look=look_at_new_webhook,
        left=[("active", ("turn.ended",))],
    ),
    on_webhook("pause", ["paused"], make_webhook),
    on_webhook("remove", "removed", make_webhook),
    Row(
        deed="Change settings",
        ready=forget_zone,
        by={
            "chat": lambda here, _: here.chat("/settings time_zone Vienna"),
            "page": lambda here, _: here.post(
                "/settings", time_zone="Europe/Vienna", shown="time_zone"
            ),
            "terminal": lambda here, _: here.run("people", "set", "olga", "time_zone", "Vienna"),
            "api": lambda here, _: here.ask("PATCH", "/settings", {"time_zone": "Vienna"}),
        },
        look=look_at_zone,
        left="Europe/Vienna",
    ),
    on_webhook("resume", ["active"], make_paused_webhook),
    on_webhook("restore", ["active"], make_removed_webhook),
    watch(
        *("rotate", make_secret_webhook, look_at_secret, [True], "/webhooks/{0}/rotate"),
    ),
    watch(
        *("test", make_heard_webhook, look_at_deliveries, [("webhook.test", "sent")]),
        "/webhooks/{0}/test",
    ),
    watch(
        *("redeliver", make_tested_webhook, look_at_repeat, True),
        "/webhooks/{0}/deliveries/{1}/redeliver",
        "delivery",
    ),
    Row(
        deed="Send events to a program (webhooks)",
        ready=make_lonely_webhook,
        by={
            "page": lambda here, number: here.post(
                f"/webhooks/{number}/change",
                name="x",
                url="https://localhost/x",
                kinds="turn.started",
            ),
            "terminal": lambda here, number: here.run(
                "webhooks", "change", number, "--events", "turn.started"
            ),
            "api": lambda here, number: here.ask(
                "PATCH", f"/webhooks/{number}", {"kinds": ["turn.started"]}
            ),
        },
        look=look_at_kinds,
        left=[("turn.started",)],
    ),
    Row(
        deed="Change settings",
        ready=speak_normally,
        by={
            "chat": lambda here, _: here.chat("/verbose on"),
            "page": lambda here, _: here.post("/settings", verbosity="verbose", shown="verbosity"),
            "terminal": lambda here, _: here.run("people", "set", "olga", "verbosity", "verbose"),
            "api": lambda here, _: here.ask("PATCH", "/settings", {"verbosity": "verbose"}),
        },
        look=look_at_verbosity,
        left="verbose",
    ),
    Row(
        deed="Change settings",
        ready=speak_normally,
        by={
            "chat": lambda here, _: here.tell("settings", verbosity="quiet"),
            "page": lambda here, _: here.post("/settings", verbosity="quiet", shown="verbosity"),
            "terminal": lambda here, _: here.run("people", "set", "olga", "verbosity", "quiet"),
            "api": lambda here, _: here.ask("PATCH", "/settings", {"verbosity": "quiet"}),
        },
        look=look_at_verbosity,
        left="quiet",
    ),
    Row(
        deed="Open the page",
        ready=keep_link,
        by={
            "chat": lambda here, _: here.chat("/console"),
            "terminal": lambda here, _: here.run("console"),
        },
        look=look_at_link,
        left=True,
    ),
    Row(
        deed="Forget what holds some words",
        ready=remember_only,
        by={
            "chat": forget_in_chat,
            "page": lambda here, name: here.post("/data/forget", words=name, scope="entries"),
            "terminal": lambda here, name: here.run(
                "people", "forget", "--yes", "--notes", "olga", name
            ),
            "api": lambda here, name: here.ask("POST", "/forget", {"words": name, "delete": True}),
        },
        look=look_at_entries,
        left=[],
    ),
    Row(
        deed="Erase all your data",
        ready=admit,
        by={
            "chat": erase_in_chat,
            "page": erase_on_page,
            "terminal": lambda here, one: here.run("people", "erase", "--yes", one.split()[1]),
        },
        look=look_at_guest,
        left=None,
    ),
    Row(
        deed="Let an owner read, and end it",
        ready=ask_to_read,
        by={
            "chat": lambda here, _: here.press(here.setup.chat.shown[-1].labels[0]),
            "page": lambda here, number: here.post(f"/questions/{number}/answer", choice="yes"),
        },
        look=look_at_consent,
        left=1,
    ),
    Row(
        deed="Let an owner read, and end it",
        ready=allow_reading,
        by={
            "chat": lambda here, _: here.chat("/console private"),
            "page": lambda here, _: here.post("/reading/end"),
        },
        look=look_at_consent,
        left=0,
    ),
    Row(
        deed="See your accounts, unlink one",
        ready=add_account,
        by={
            "chat": lambda here, name: here.chat("/unlink 2"),
            "page": unlink_on_page,
        },
        look=look_at_account,
        left=False,
    ),
)
