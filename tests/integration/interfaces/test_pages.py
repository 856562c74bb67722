"""The console's pages over HTTP: who sees what, what they weigh, and what their buttons do."""

import html
import json
import re
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from agent_core.chats import Chat
from agent_core.errors import ModelBusy
from agent_core.memory.archive.conclusions import insert_conclusion, list_premises
from agent_core.skills.catalog import SKILL_FILE
from agent_core.state.backups.places import record_newest
from agent_core.state.conversations import questions, turns
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people, rooms
from agent_core.state.people.people import NewAccount
from agent_core.state.queues import incidents, outbox
from agent_core.state.queues.outbox import NewOutboxMessage
from gateway.home import BACKUPS
from gateway.interfaces.pages import routes
from gateway.interfaces.pages.rendering import PLACES
from gateway.interfaces.pages.views import Fields, Look
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.harness import is_settled
from tests.integration.interfaces.api_setup import (
    OLGA,
    ZEBRANA,
    Setup,
    ask_about_tea,
    chat_of,
    find_named,
    make_token,
)
from tests.integration.interfaces.console_setup import browse, browse_as
from tests.integration.interfaces.page_texts import drop_labels, read
from tests.integration.served import served
from tests.patience import until

PAGES = (
    "/today",
    "/conversations",
    "/turns",
    "/memory",
    "/skills",
    "/jobs",
    "/usage",
    "/settings",
    "/people",
    "/condition",
    "/configuration",
)
MOST_BYTES = 150_000
"""A page with all its files, as the issue asks."""


async def test_each_page_is_for_the_owner_alone_and_small(setup: Setup) -> None:
    setup.model.plays = [say("A heron.")]
    await setup.post("chat/completions", setup.olga, chat_of("Which <b>bird</b> is grey?"))
    async with aiohttp.ClientSession(setup.served.address.origin()) as stranger:
        for path in (*PAGES, "/turns/1", "/pages/pages.js", "/pages/events"):
            async with stranger.get(path) as answer:
                assert answer.status == 401, path
    async with browse(setup.served) as session:
        weight = 0
        for path in ("/pages/pages.css", "/pages/pages.js", "/pages/htmx.js", "/icon.svg"):
            async with session.get(path) as answer:
                weight += len(await answer.read())
        for path in PAGES:
            async with session.get(path) as answer:
                text = await answer.text()
            assert answer.status == 200, (path, text)
            assert len(text.encode()) + weight < MOST_BYTES
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'; script-src 'self'" in policy
            assert "unsafe" not in policy
            assert 'aria-current="page"' in text
            assert "bluefish" not in text
        async with session.get("/today") as answer:
            assert "Which &lt;b&gt;bird&lt;/b&gt; is grey?" in await answer.text()


async def test_today_lists_deeds_as_done_and_the_rest_as_asked(setup: Setup) -> None:
    reminder = '{"text": "Water the plants", "when": "tomorrow at 9:00"}'
    for words, *plays in (
        ("Which bird is grey?", say("A heron.")),
        ("Remind me last Friday to water", say("Last Friday is over. When shall I remind you?")),
        ("Remind me tomorrow at 9:00 to water", ask(call("remind", reminder)), say("I will.")),
    ):
        setup.model.plays = plays
        seen = len(setup.chat.shown)
        await setup.chat.says(words, user=OLGA, chat=OLGA, name="Olga", id=words)
        await setup.chat.until(lambda seen=seen: len(setup.chat.shown) > seen)
        await until(lambda: is_settled(setup.served.gateway))
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        today = html.unescape(await read(session, "/today")).partition('id="page"')[2]
        seen = len(setup.chat.shown)
        await setup.chat.says("/undo", user=OLGA, chat=OLGA, name="Olga", id="undo")
        await setup.chat.until(lambda: len(setup.chat.shown) > seen)
        undone = html.unescape(await read(session, "/today")).partition('id="done"')[2]
    assert "<s>⏰ tomorrow, 9:00: Water the plants</s>" in undone
    assert "taken back" in undone
    assert "taken back" not in today
    done, _, asked = today.partition('id="asked"')
    assert "tomorrow, 9:00: Water the plants" in done.partition('id="done"')[2]
    assert "Which bird is grey?" not in done
    assert "Which bird is grey?" in asked
    assert "Remind me last Friday" in asked
    assert "Remind me tomorrow" not in asked


async def test_a_turn_shows_its_steps_and_its_prompt(setup: Setup) -> None:
    setup.model.plays = [ask(call("recall", '{"query": "heron"}')), say("A heron.")]
    await setup.post("chat/completions", setup.olga, chat_of("Which bird is grey?"))
    newest = await setup.served.gateway.database.read(turns.find_newest)
    async with browse(setup.served) as session, session.get(f"/turns/{newest}") as answer:
        text = await answer.text()
    assert answer.status == 200, text
    assert text.count("Model: ") == 2
    assert text.count("Searching conversations") == 1
    assert len(re.findall(r"\b\d+ tokens\b", text)) == 3, "of the turn and of both calls"
    assert "$0" not in text
    assert "A heron." in text
    assert "<details>" in text


async def test_a_turn_shows_its_waits_and_is_replayed_with_its_prompt_by_source(
    setup: Setup,
) -> None:
    setup.model.plays = [ask(call("recall", '{"query": "heron"}')), say("A heron.")]
    await setup.post("chat/completions", setup.olga, chat_of("Which bird is grey?"))
    database = setup.served.gateway.database
    newest = await database.read(turns.find_newest)

    def wait(connection: Connection) -> None:
        """Let the turn wait for three things: 4 s, 2 s, and a model until now."""
        started = connection.execute(
            "SELECT started_at FROM turns WHERE id = :id", {"id": newest}
        ).fetchone()[0]
        connection.execute(
            "UPDATE inbox SET received_at = :at WHERE turn_id = :id",
            {"at": started - 4000, "id": newest},
        )
        connection.execute(
            "INSERT INTO questions (person_id, turn_id, call_id, kind, text, choices, secret,"
            " platform, chat, state, asked_at, expires_at, answered_at) SELECT person_id, id, 'w',"
            " 'approval', 'May I?', '[]', 's', 'fake', '1', 'answered', :at, :at, :at + 2000"
            " FROM turns WHERE id = :id",
            {"at": started, "id": newest},
        )
        connection.execute(
            "UPDATE turns SET waiting_since = :at, attempts = 2 WHERE id = :id",
            {"at": started, "id": newest},
        )

    async with browse(setup.served) as session:
        async with session.get(f"/turns/{newest}/replay") as answer:
            text = drop_labels(await answer.text())
        assert answer.status == 200, text
        assert "No difference: the model got exactly this." in text
        assert "Today, the model would read the same." in text
        rows = dict(re.findall(r'<th scope="row">([^<]+)</th>\s*<td>([\d,]+)</td>', text))
        assert {"Instructions", "Tools", "Messages", "Tool results"} <= set(rows)
        assert "2 model calls read" in text
        with (setup.home / "SOUL.md").open("a") as soul:
            soul.write("You like herons.\n")
        async with session.get(f"/turns/{newest}/replay") as answer:
            text = await answer.text()
        assert "Today, the model would read something else:" in text
        assert '<ins class="text">You like herons.</ins>' in text
        assert "-- then" not in text
        before = await database.read(lambda c: c.execute("SELECT COUNT(*) FROM usage").fetchone())
        await database.write("test", wait)
        async with session.get(f"/turns/{newest}") as answer:
            text = await answer.text()
        for words in (
            *("Waited for its turn", "4.00 s", "Waited for an approval", "2.00 s"),
            *("Waited for the model, and tried again", "<dt>Attempts</dt><dd>2</dd>"),
        ):
            assert words in text, words
        after = await database.read(lambda c: c.execute("SELECT COUNT(*) FROM usage").fetchone())
        assert before == after
        zebrana = await find_named(setup, "zebrana")
        others = await database.read(
            lambda c: turns.list_of_person(c, person_id=zebrana.id, before=2**62, limit=50)
        )
        for turn in others:
            async with session.get(f"/turns/{turn.id}/replay") as answer:
                assert answer.status == 404


async def test_a_finished_turn_shows_how_long_its_model_did_not_answer(setup: Setup) -> None:
    setup.model.plays = [
        [ModelBusy("overloaded")],
        ask(call("recall", '{"query": "heron"}')),
        [ModelBusy("overloaded")],
        say("A heron."),
    ]
    await setup.post("chat/completions", setup.olga, chat_of("Which bird is grey?"))
    newest = await setup.served.gateway.database.read(turns.find_newest)
    async with browse(setup.served) as session, session.get(f"/turns/{newest}") as answer:
        text = await answer.text()
    assert text.count("Waited for the model, and tried again") == 2
    assert "still running" not in text


def bury(connection: Connection) -> None:
    """Leave a message that can't be delivered, and one that waits."""
    for body in ("bluefishdead", "bluefishowed"):
        row = outbox.enqueue(
            connection, NewOutboxMessage(chat=Chat(platform="fake", address="1"), body=body), now=0
        )
        if body == "bluefishdead":
            outbox.mark_dead(connection, outbox_id=row.id, reason="The chat no longer exists.")


async def test_health_shows_platforms_queues_errors_backup_and_database(setup: Setup) -> None:
    database, backups = setup.served.gateway.database, setup.home / BACKUPS
    await database.write("test", bury)
    async with browse(setup.served) as session:
        async with session.get("/condition") as answer:
            text = drop_labels(await answer.text())
        for words in (
            "A model is missing.",
            '<th scope="row">fake</th><td>connected</td>',
            "<dt>Messages waiting to be sent</dt><dd>1</dd>",
            "<dt>Undelivered messages</dt><dd>1</dd>",
            '<th scope="col">Oldest waiting since</th>',
            "fake: The chat no longer exists.",
            "<dt>State</dt><dd>works</dd>",
            "None yet. Talaria makes one each night",
        ):
            assert words in text, (words, text)
        assert "bluefish" not in text
        backups.mkdir(exist_ok=True)
        record_newest(backups, "s3://nest/nightly", 1_790_000_000_000)
        async with session.get("/condition") as answer:
            assert "s3://nest/nightly" in await answer.text()


async def test_health_shows_what_is_wrong_since_when_and_how_long_messages_waited(
    home: Path,
) -> None:
    with (home / "config.toml").open("a") as file:
        file.write("[alerts]\nenabled = false\n")  # or it ends what is not wrong
    since = 1_790_000_000_000

    def break_down(connection: Connection) -> None:
        for subject in ("telegram", "slack"):
            details = {"detail": f"{subject} refused"}
            incidents.begin(
                connection, kind="platform", subject=subject, details=details, now=since
            )
        incidents.mark_told(connection, now=since)
        incidents.end(connection, kind="platform", subject="slack", now=since + 1)
        connection.execute("DELETE FROM outbox")
        for seconds in range(1, 21):
            row = outbox.enqueue(
                connection,
                NewOutboxMessage(chat=Chat(platform="fake", address="1"), body="a"),
                now=since,
            )
            connection.execute(
                "UPDATE outbox SET state = 'sent', sent_at = :at WHERE id = :id",
                {"id": row.id, "at": since + seconds * 1000},
            )
        outbox.enqueue(
            connection,
            NewOutboxMessage(chat=Chat(platform="fake", address="1"), body="a"),
            now=since,
        )

    async with (
        served(home, adapters={"fake": FakeChat()}, model=FakeModel()) as running,
        browse(running) as session,
    ):
        async with session.get("/condition") as answer:
            text = drop_labels(await answer.text())
            assert "Needs your attention" not in text
        await running.gateway.database.write("test", break_down)
        async with session.get("/condition") as answer:
            text = drop_labels(await answer.text())
    assert "Something needs your attention." in text
    wrong = text.partition('<h2 id="incidents">')[2].partition("</section>")[0]
    assert "Telegram is disconnected. telegram refused" in wrong
    assert 'Since <time datetime="2026-09-21T' in wrong
    assert "slack refused" not in text
    row = text.partition("How long messages waited")[2].partition("</table>")[0]
    assert "<td>11.0 s</td><td>20.0 s</td>" in row
    assert '<th scope="row">fake</th><td><time datetime="2026-09-21T' in row


async def test_people_and_groups_are_shown_with_roles_accounts_and_modes(setup: Setup) -> None:
    database, olga = setup.served.gateway.database, await find_named(setup, "olga")

    def gather(connection: Connection) -> None:
        room = rooms.insert(
            connection, platform="fake", chat_id="7", title="<Choir>", slug="choir", now=1
        )
        rooms.set_mode(connection, room_id=room.id, mode="room", by=olga.id, now=1)

    async with browse(setup.served) as session:
        async with session.get("/people") as answer:
            text = drop_labels(await answer.text())
            assert "No groups yet." in text
        await database.write("test", gather)
        async with session.get("/people") as answer:
            text = drop_labels(await answer.text())
    for person, account in ((olga, OLGA), (await find_named(setup, "zebrana"), ZEBRANA)):
        assert f'<th scope="row">{person.name}</th>' in text
        assert f'<span title="{account}">' in text
    assert "<td>owner</td>" in text
    assert "<td>member</td>" in text
    row = text.partition("&lt;Choir&gt;</th>")[2].partition("</tr>")[0]
    assert "<td>one conversation that everyone shares <a " in row
    assert f"<td>{olga.name}</td>" in row


async def test_a_page_of_people_leads_to_the_next_one(setup: Setup) -> None:
    def invite(connection: Connection) -> None:
        for number in range(60):
            people.insert(
                connection, slug=f"guest-{number}", name=f"Guest {number}", role="member", now=1
            )

    await setup.served.gateway.database.write("test", invite)
    path, names = "/people", list[str]()
    async with browse(setup.served) as session:
        while path:
            async with session.get(path) as answer:
                text = await answer.text()
            assert text.count('<th scope="row">') <= 50
            names += re.findall(r'<th scope="row">(Guest \d+)<', text)
            found = re.search(r'href="(/people\?after=\d+)"', text)
            path = found[1] if found else ""
    assert names == [f"Guest {number}" for number in range(60)]


async def test_a_skill_shows_its_instructions_and_what_each_version_changed(setup: Setup) -> None:
    place = setup.home / "skills" / "tidy"
    write_skill(setup.home / "skills", "tidy", "Sort the <b>letters</b>.")
    async with browse(setup.served) as session:
        async with session.get("/skills/tidy") as answer:
            text = await answer.text()
            assert answer.status == 200, text
        assert "Sort the &lt;b&gt;letters&lt;/b&gt;." in text
        assert "Version 1" in text
        assert "by hand in the file · in use" in text
        file = place / SKILL_FILE
        file.write_text(file.read_text().replace("letters", "papers"))
        async with session.get("/skills/tidy") as answer:
            text = await answer.text()
        newest = text.partition("Version 2")[2].partition("</article>")[0]
        assert '<del class="text">Sort the &lt;b&gt;letters&lt;/b&gt;.</del>' in newest
        assert '<ins class="text">Sort the &lt;b&gt;papers&lt;/b&gt;.</ins>' in newest
        async with session.get("/skills") as answer:
            text = await answer.text()
        row = text.partition('href="/skills/tidy"')[2].partition("</li>")[0]
        assert "in Talaria&#39;s folder" in row
        bundled = "/skills/writing-style"
        assert bundled in text
        async with session.get(bundled) as answer:
            assert "No versions are kept of this skill" in await answer.text()
        async with session.get("/skills/unknown") as answer:
            assert answer.status == 404


async def test_nothing_of_another_person_is_shown_or_changed(setup: Setup) -> None:
    database = setup.served.gateway.database
    everybody = await database.read(people.list_all)
    zebrana = next(one for one in everybody if one.slug == "zebrana")
    found = await database.read(
        lambda c: turns.list_of_person(c, person_id=zebrana.id, before=2**62, limit=50)
    )
    rows = await database.read(lambda c: ledger.list_recent_of(c, person_id=zebrana.id, limit=50))
    assert found
    assert rows
    async with browse(setup.served) as session:
        for turn in found:
            async with session.get(f"/turns/{turn.id}") as answer:
                assert answer.status == 404
                assert "bluefish" not in await answer.text()
        for row in rows:
            async with session.post(f"/memory/{row.id}/undo") as answer:
                assert answer.status == 404
        for path in ("/turns/99999999999999999999", "/turns/0"):
            async with session.get(path) as answer:
                assert answer.status == 404


async def test_a_change_of_memory_is_undone_with_a_button(home: Path) -> None:
    def adopt(connection: Connection) -> None:
        """Give Zebrana's memory to whoever sits at the console."""
        zebrana = next(one for one in people.list_all(connection) if one.slug == "zebrana")
        local = NewAccount(
            platform="console", user_id="local", display_name="Z", admitted_by="local"
        )
        people.attach_account(connection, local, person_id=zebrana.id, now=1)

    async with served(home, adapters={"fake": FakeChat()}, model=FakeModel()) as running:
        await running.gateway.database.write("test", adopt)
        async with browse(running) as session:
            async with session.get("/memory") as answer:
                text = await answer.text()
            assert "bluefishmemory" in text
            assert " · by " in text or " · from " in text
            assert "turn:" not in text
            number = text.partition('action="/memory/')[2].partition("/undo")[0].rpartition("/")[2]
            async with session.post(f"/memory/{number}/undo", allow_redirects=False) as answer:
                assert (answer.status, answer.headers["Location"]) == (303, "/memory")
            async with session.get("/memory") as answer:
                assert f"undid change {number}" in await answer.text()
            async with session.post(f"/memory/{number}/undo") as answer:
                assert answer.status == 409
                assert "already undone" in await answer.text()
            evil = {"Origin": "http://evil.example"}
            async with session.post(f"/memory/{number}/undo", headers=evil) as answer:
                assert answer.status == 403


async def test_today_lists_what_was_said_and_nothing_without_words(setup: Setup) -> None:
    setup.model.plays = [say("A heron."), say("Thanks.")]
    await setup.post("chat/completions", setup.olga, chat_of("Which bird is grey?"))
    await setup.post("chat/completions", setup.olga, chat_of("Only a picture"))

    def silence(connection: Connection) -> None:
        connection.execute("UPDATE messages SET text = '' WHERE text = 'Only a picture'")

    await setup.served.gateway.database.write("test", silence)
    async with browse(setup.served) as session:
        done = (await read(session, "/today")).partition('id="asked"')[2]
        assert "Which bird is grey?" in done
        assert "Only a picture" not in done
        assert "A message without words" not in done
        assert "A message without words" in await read(session, "/turns")


async def test_what_was_forgotten_is_no_row_with_a_dead_button(setup: Setup) -> None:
    setup.model.plays = [say("A heron."), say("Thanks.")]
    await setup.post("chat/completions", setup.olga, chat_of("Which bird is grey?"))

    def forget(connection: Connection) -> None:
        connection.execute(
            "UPDATE messages SET text = '[forgotten]', forgotten_at = 1"
            " WHERE text LIKE 'Which bird%'"
        )
        newest = connection.execute("SELECT MAX(id) FROM ledger").fetchone()[0]
        ledger.redact(connection, entry_id=newest, is_wanted=bool, mark="[forgotten]")

    async with browse(setup.served) as session:
        remember = {"text": "I like herons"}
        async with session.post("/memory/entries", data=remember) as answer:
            assert "I like herons" in await answer.text()
        await setup.served.gateway.database.write("test", forget)
        assert "[forgotten]" not in await read(session, "/today")
        listed = await read(session, "/turns")
        assert "[forgotten]" not in listed
        assert "(These words were deleted.)" in listed
        changes = (await read(session, "/memory")).partition('id="changes"')[2]
        assert "[forgotten]" not in changes
        first = changes.partition("</article>")[0]
        assert "You had these words deleted." in first
        assert "/undo" not in first


async def test_an_unknown_time_zone_breaks_no_page(setup: Setup) -> None:
    def damage(connection: Connection) -> None:
        connection.execute("UPDATE people SET time_zone = 'Mars/Phobos'")

    await setup.served.gateway.database.write("test", damage)
    setup.served.gateway.forget_known()
    async with browse(setup.served) as session:
        for path in ("/today", "/jobs", "/jobs/calendar", "/turns", "/memory", "/settings", "/"):
            await read(session, path)


async def test_a_question_is_answered_on_the_page_today(setup: Setup) -> None:
    gateway = setup.served.gateway
    database, now = gateway.database, gateway.now()
    olga, zebrana = await find_named(setup, "olga"), await find_named(setup, "zebrana")
    tea = await database.write("test", lambda c: ask_about_tea(c, olga, now))
    why = await database.write("test", lambda c: ask_about_tea(c, olga, now, "reason"))
    other = await database.write("test", lambda c: ask_about_tea(c, zebrana, now))
    async with browse(setup.served, **{"Accept-Language": "de"}) as session:
        async with session.get("/today") as answer:
            text = await answer.text()
        assert 'value="yes">Yes</button>' in text
        assert "Deine Antwort" in text
        assert f"/questions/{other}/" not in text
        for number, words, status in (
            (tea, "coffee", 409),
            (tea, " ", 409),
            (tea, "yes", 200),
            (tea, "no", 409),
            (why, "It is too late, Özil.", 200),
            (other, "yes", 404),
            (2**70, "yes", 404),
        ):
            form = {"choice": words}
            async with session.post(f"/questions/{number}/answer", data=form) as answer:
                text = await answer.text()
                assert answer.status == status, (number, words, text)
                assert ("Diese Frage ist nicht mehr offen" in text) == (status == 409)
        evil = {"Origin": "http://evil.example"}
        async with session.post(f"/questions/{tea}/answer", headers=evil) as answer:
            assert answer.status == 403
    for number, key in ((tea, "yes"), (why, "It is too late, Özil."), (other, None)):
        stored = await database.read(questions.find, question_id=number)
        assert stored is not None
        assert stored.answer == key


async def test_states_and_actors_are_words_for_people(setup: Setup) -> None:
    setup.model.plays = [say("A heron.")]
    await setup.post("chat/completions", setup.olga, chat_of("Which bird is grey?"))
    newest = await setup.served.gateway.database.read(turns.find_newest)
    async with browse(setup.served, **{"Accept-Language": "de"}) as session:
        for path, words in (
            (f"/turns/{newest}", "<dd>beantwortet</dd>"),
            ("/usage", '<th scope="row">Antworten</th>'),
        ):
            async with session.get(path) as answer:
                assert words in await answer.text(), path


async def test_a_job_is_paused_run_and_deleted_with_buttons(setup: Setup) -> None:
    manager = await make_token(setup.home, "olga", "manage")
    body = {"kind": "message", "text": "Water the plants", "cron": "0 9 * * *"}
    url = f"{setup.served.address.origin()}/api/jobs"
    head = {"Authorization": f"Bearer {manager}"}
    async with (
        aiohttp.ClientSession() as api,
        api.post(url, json=body, headers=head) as answer,
    ):
        job = json.loads(await answer.text())["id"]
    async with browse(setup.served) as session:
        for verb, words in (
            ("pause", ">Paused</h2>"),
            ("resume", "Pause: Water the plants"),
            ("run", "Last runs"),
        ):
            async with session.post(f"/jobs/{job}/{verb}") as answer:
                assert answer.status == 200
                assert words in await answer.text()
        async with session.post(f"/jobs/{job}/explode") as answer:
            assert answer.status == 404
        async with session.post(f"/jobs/{job}/delete") as answer:
            assert "No reminders yet" in await answer.text()


async def test_every_page_of_a_new_home_opens_at_once_in_the_readers_language(
    tmp_path: Path,
) -> None:
    async with served(tmp_path / "home", model=FakeModel()) as running:
        async with browse(running) as session:
            for address in PLACES:
                async with session.get(address) as answer:
                    assert answer.status == 200, address
                    assert "<h1" in await answer.text()
            async with session.get("/") as answer:
                assert "Remind me tomorrow at 9 to feed the dog</button>" in await answer.text()
        german = {"Accept-Language": "de-AT,de;q=0.9"}
        async with browse(running, **german) as session, session.get("/today") as answer:
            text = await answer.text()
            assert '<html lang="de">' in text
            assert "Heute noch" in text
        found = await running.gateway.database.read(people.list_all)
        assert [one.role for one in found] == ["owner"], "the terminal makes the same person"


async def test_a_rejected_form_is_an_address_that_back_and_reload_find(setup: Setup) -> None:
    form = {"text": "Feed the dog", "when": "blue moon", "kind": "message"}
    async with browse(setup.served, Accept="text/html,*/*;q=0.8") as session:
        async with session.post("/jobs/new", data=form, allow_redirects=False) as answer:
            assert answer.status == 303
            address = answer.headers["Location"]
        for _ in range(2):
            async with session.get(address) as answer:
                text = await answer.text()
                assert answer.status == 200
                assert "blue moon" in text
                assert "Feed the dog" in text
        async with session.get("/jobs/new") as answer:
            assert "blue moon" not in await answer.text()
        async with session.post("/memory/entries", data={"action": "add", "text": ""}) as answer:
            assert answer.url.path == "/memory"
            assert 'role="alert"' in await answer.text() or "fault" in await answer.text()
    async with browse_as(setup.served, setup.chat, ZEBRANA) as other, other.get(address) as answer:
        assert "blue moon" not in await answer.text(), "it is its person's alone"


async def test_an_open_page_learns_what_happens(setup: Setup) -> None:
    setup.model.plays = [say("A heron.")]
    async with browse(setup.served) as session, session.get("/pages/events") as stream:
        assert (await stream.content.readline()).startswith(b":")
        await setup.post("chat/completions", setup.olga, chat_of("Which bird is grey?"))
        told = []
        while "turn.ended" not in told:
            line = (await stream.content.readline()).decode()
            if line.startswith("event: "):
                told.append(line.removeprefix("event: ").strip())
        assert told == ["turn.started", "turn.ended"]


async def test_a_page_learns_what_happened_before_it_opened_its_stream(setup: Setup) -> None:
    setup.model.plays = [say("A heron."), say("An owl.")]
    async with browse(setup.served) as session:
        await setup.post("chat/completions", setup.olga, chat_of("Which bird is grey?"))
        found = re.search('data-since="([^"]+)"', await read(session, "/turns"))
        assert found
        await setup.post("chat/completions", setup.olga, chat_of("Which bird is brown?"))
        query = {"since": found[1]}
        async with session.get("/pages/events", params=query) as stream:
            told: list[str] = []
            while "turn.ended" not in told:
                line = (await stream.content.readline()).decode()
                if line.startswith("event: "):
                    told.append(line.removeprefix("event: ").strip())
    assert told == ["turn.started", "turn.ended"]


async def test_an_owner_reads_the_configuration_and_its_sources_without_secrets(home: Path) -> None:
    key = "bluefish-secret-0123456789"
    (home / ".env").write_text(
        f"OPENAI_API_KEY={key}\nTALARIA_LOG__LEVEL=debug\n"
        f"TALARIA_TELEMETRY__ENDPOINT=http://olga:bluefishword@127.0.0.1:1\n"
    )
    (home / ".env").chmod(0o600)
    with (home / "config.toml").open("a") as file:
        file.write(f'[plugins]\noptions = ["nest.key=bluefish", "nest.place={key}"]\n')
        file.write("[turns]\ndrain_seconds = 7\n")
    async with (
        served(home, adapters={"fake": FakeChat()}, model=FakeModel()) as running,
        browse(running) as session,
        session.get("/configuration") as answer,
    ):
        text = await answer.text()
        found = await read(session, "/configuration?find=steps+TURN")
        nothing = await read(session, "/configuration?find=unicorn")
    assert answer.status == 200
    assert "<code>turns.max_steps</code>" in found
    assert "<code>log.level</code>" not in found
    assert "No setting fits “unicorn”. Try other words." in nothing
    for row in (
        "Limits of one turn: Drain seconds</strong>: 7",
        "<code>turns.drain_seconds</code> · config.toml",
        "<code>log.level</code> · TALARIA_LOG__LEVEL",
        ": nest.key=[hidden], nest.place=[hidden]",
        ": http://[hidden]@127.0.0.1:1",
        "<code>turns.max_steps</code> · default",
        "<li>OPENAI_API_KEY: set</li>",
        "<li>TELEGRAM_BOT_TOKEN: not set</li>",
    ):
        assert row in text, (row, text)
    assert "bluefish" not in text


async def test_memory_shows_the_profile_and_the_archive_of_its_person(setup: Setup) -> None:
    zebrana = await find_named(setup, "zebrana")

    def guess(connection: Connection) -> None:
        insert_conclusion(
            connection,
            person_id=zebrana.id,
            text="Gets up early.",
            confidence=70,
            premises=list_premises(connection, person_id=zebrana.id)[:1],
            origin=Origin(actor="review:1:1", now=1, evidence="", call_key="review:1:1:c1"),
        )

    await setup.served.gateway.database.write("test", guess)
    async with (
        browse_as(setup.served, setup.chat, ZEBRANA) as session,
        session.get("/memory") as answer,
    ):
        text = await answer.text()
    profile, _, rest = text.partition('<h2 id="archive">')
    archive, _, changes = rest.partition('<h2 id="changes">')
    about, _, guesses = profile.partition("<h3>Guesses</h3>")
    assert about.count("bluefishmemory</p>") == 1
    assert '<p class="text">Gets up early.</p>' in guesses
    assert "70% sure, because: " in guesses
    assert "<h3>Other notes</h3>" in about
    assert '<p class="text">Kept bluefishkept</p>' in archive
    assert "bluefishtag</p>" in archive
    assert "bluefishkept" in changes
    async with browse(setup.served) as session, session.get("/memory?notes=30") as answer:
        text = await answer.text()
    assert "No notes in the archive yet." in text
    assert "bluefish" not in text


BROWSER = {"Accept": "text/html,application/xhtml+xml"}


async def test_a_fault_is_a_page_with_a_way_on_and_for_programs_a_sentence(setup: Setup) -> None:
    faults = (
        ("GET", "/nothing", 404, "There is nothing at this address", "/today"),
        ("GET", "/jobs/999", 404, "There is nothing at this address", "/jobs"),
        ("POST", "/today", 405, "couldn't tell that this came from you", "/today"),
    )
    async with browse(setup.served) as session:
        for method, path, status, sentence, way in faults:
            async with session.request(method, path, headers=BROWSER) as answer:
                text = await answer.text()
            assert (answer.status, answer.content_type) == (status, "text/html"), path
            shown = html.unescape(text.partition("<main")[2])
            assert sentence in shown
            assert f'class="button primary" href="{way}"' in shown
            assert 'id="talks"' in text, "within the frame"
        async with session.post("/today") as answer:
            assert (answer.status, answer.content_type) == (405, "text/plain")
    async with (
        aiohttp.ClientSession(setup.served.address.origin()) as stranger,
        stranger.get("/nothing", headers=BROWSER) as answer,
    ):
        assert (answer.status, answer.content_type) == (401, "text/html")
        assert 'id="talks"' not in await answer.text()


async def test_a_page_that_fails_says_so_and_leads_on(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: Look) -> Fields:
        raise RuntimeError("bluefish")

    monkeypatch.setitem(routes._VIEWS, "/failing", ("today.html", fail))
    async with served(home) as running, browse(running) as session:
        async with session.get("/failing", headers=BROWSER) as answer:
            text = await answer.text()
        assert (answer.status, answer.content_type) == (500, "text/html")
        assert "Something went wrong on this page." in text
        assert 'class="button primary" href="/today"' in text
        assert 'id="talks"' in text, "within the frame"
        async with session.get("/failing") as answer:
            said = await answer.text()
        assert (answer.status, answer.content_type) == (500, "text/plain")
        assert "The log of Talaria says what." in said
        assert "bluefish" not in text + said
        assert "<title>" in await read(session, "/today"), "the others go on"
    assert "bluefish" in caplog.text


async def test_times_read_as_people_say_them_with_the_exact_one_on_hover(setup: Setup) -> None:
    setup.model.plays = [say("A heron.")]
    await setup.post("chat/completions", setup.olga, chat_of("Which bird is grey?"))
    async with browse(setup.served) as session:
        shown = await read(session, "/turns")
    found = re.findall(r'<time datetime="([^"]+)" title="([^"]+)">([^<]+)</time>', shown)
    assert found[0][2] in ("just now", "1 min ago")
    assert found[0][0][:10] in found[0][1]


async def test_a_stop_says_nothing_of_the_pages_that_are_open(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with AsyncExitStack() as readers, served(tmp_path / "home", model=FakeModel()) as running:
        session = await readers.enter_async_context(browse(running))
        stream = await readers.enter_async_context(session.get("/pages/events"))
        assert stream.status == 200
    assert [one.getMessage() for one in caplog.records if one.name == "uvicorn.error"] == []
