"""Deeds about reminders and jobs."""

import re
from typing import Any

from agent_core.chats import Chat
from agent_core.ids import JobId
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.people import delivery_targets
from tests.integration.interfaces.api_setup import OLGA
from tests.integration.interfaces.same_deeds.surfaces import Do, Row, Surfaces


async def look_at_job(here: Surfaces, number: str) -> Any:
    job = await here.read(jobs.find, job_id=JobId(int(number)))
    return job.state, job.body


async def look_at_new_job(here: Surfaces, name: str) -> Any:
    found = await here.read(jobs.list_of_person, person_id=(await here.olga()).id)
    return [(one.kind, one.state, one.timing) for one in found if one.body == name]


async def make_job(here: Surfaces, name: str) -> str:
    body = {"kind": "message", "text": "Water it", "when": "tomorrow at 9:00"}
    return str((await here.ask("POST", "/jobs", body))["id"])


async def make_deleted_job(here: Surfaces, name: str) -> str:
    number = await make_job(here, name)
    await here.ask("DELETE", f"/jobs/{number}")
    return number


async def make_changed_job(here: Surfaces, name: str) -> str:
    number = await make_job(here, name)
    await here.ask("PATCH", f"/jobs/{number}", {"text": "Cut it"})
    return number


async def make_paused_job(here: Surfaces, name: str) -> str:
    number = await make_job(here, name)
    await here.ask("POST", f"/jobs/{number}/pause")
    return number


async def press_undo(here: Surfaces, job: str) -> None:
    """Press the button of the page, which names the version."""
    async with here.page.get(f"/jobs/{job}") as answer:
        form = (await answer.text()).partition(f'action="/jobs/{job}/undo"')[2]
    found = re.search(r'name="version" value="(\d+)"', form.partition("</form>")[0])
    assert found, form
    await here.post(f"/jobs/{job}/undo", version=found[1])


def on_job(verb: str, tool: str, ready: Do, left: object) -> Row:
    """Do something to a reminder that is there."""
    api = {"delete": ("DELETE", "")}.get(verb, ("POST", f"/{verb}"))

    async def press(here: Surfaces, job: str) -> None:
        await here.post(f"/jobs/{job}/{verb}")

    return Row(
        deed="Pause, resume, run, delete" if tool else "Restore a deleted one, undo a change",
        ready=ready,
        by={
            "chat": lambda here, job: here.chat(f"/reminders {verb} {job}"),
            "page": press_undo if verb == "undo" else press,
            "terminal": lambda here, job: here.run("jobs", verb, job),
            "api": lambda here, job: here.ask(api[0], f"/jobs/{job}{api[1]}"),
            **(
                {"mcp": lambda here, job: here.propose("manage_jobs", action=tool, job=int(job))}
                if tool
                else {}
            ),
        },
        look=look_at_job,
        left=left,
    )


async def look_at_runs(here: Surfaces, number: str) -> Any:
    found = await here.read(job_runs.list_of_job, job_id=JobId(int(number)), limit=9)
    return [one.state for one in found]


async def look_at_urgency(here: Surfaces, number: str) -> Any:
    return (await here.read(jobs.find, job_id=JobId(int(number)))).is_urgent


async def look_at_model(here: Surfaces, number: str) -> Any:
    return (await here.read(jobs.find, job_id=JobId(int(number)))).options.model


async def look_at_address(here: Surfaces, one: str) -> Any:
    number, _, former = one.partition(" ")
    job = await here.read(jobs.find, job_id=JobId(int(number)))
    return job.timing != former


async def look_at_home(here: Surfaces, _: str) -> Any:
    home = await here.read(delivery_targets.find, person_id=(await here.olga()).id)
    return home.chat


async def make_repeating_job(here: Surfaces, name: str) -> str:
    body = {"kind": "message", "text": "Water it", "when": "every day at 9:00"}
    number = str((await here.ask("POST", "/jobs", body))["id"])
    await here.ask("POST", f"/jobs/{number}/pause")
    return number


async def make_task(here: Surfaces, name: str) -> str:
    body = {"kind": "prompt", "text": "Look", "when": "every day at 9:00"}
    return str((await here.ask("POST", "/jobs", body))["id"])


async def make_awaited_job(here: Surfaces, name: str) -> str:
    """Make a job that starts by a web address; its number, and what is kept of the address."""
    body = {"kind": "message", "text": "Water it", "when": "webhook"}
    number = str((await here.ask("POST", "/jobs", body))["id"])
    job = await here.read(jobs.find, job_id=JobId(int(number)))
    return f"{number} {job.timing}"


async def forget_home(here: Surfaces, name: str) -> str:
    await here.ask("PATCH", "/settings", {"home": ""})
    return name


def change(key: str, value: object, look: Do, page: Do, chat: Do, terminal: str) -> Row:
    """Change one field of a job."""
    return Row(
        deed="Change one",
        ready=make_task,
        by={
            "chat": chat,
            "page": page,
            "terminal": lambda here, job: here.run("jobs", "change", job, *terminal.split()),
            "api": lambda here, job: here.ask("PATCH", f"/jobs/{job}", {key: value}),
            "mcp": lambda here, job: here.propose(
                "manage_jobs", action="change", job=int(job), other={key: value}
            ),
        },
        look=look,
        left=value,
    )


ROWS = (
    Row(
        deed="Create a reminder or a job",
        by={
            "chat": lambda here, name: here.tell("remind", text=name, when="every day at 9:00"),
            "page": lambda here, name: here.post("/jobs/new", text=name, when="every day at 9:00"),
            "terminal": lambda here, name: here.run(
                *("jobs", "add", "--person", "olga", "--when", "every day at 9:00"),
                *("--message", name),
            ),
            "api": lambda here, name: here.ask(
                "POST", "/jobs", {"kind": "message", "text": name, "when": "every day at 9:00"}
            ),
            "mcp": lambda here, name: here.propose("remind", text=name, when="every day at 9:00"),
        },
        look=look_at_new_job,
        left=[("message", "active", "cron 0 9 * * *")],
    ),
    on_job("pause", "pause", make_job, ("paused", "Water it")),
    on_job("resume", "resume", make_paused_job, ("active", "Water it")),
    on_job("delete", "delete", make_job, ("dropped", "Water it")),
    on_job("restore", "", make_deleted_job, ("active", "Water it")),
    on_job("undo", "", make_changed_job, ("active", "Water it")),
    Row(
        deed="Change one",
        ready=make_job,
        by={
            "chat": lambda here, job: here.tell_and_agree(
                "manage_jobs", action="change", job=int(job), text="Cut it"
            ),
            "page": lambda here, job: here.post(f"/jobs/{job}/change", text="Cut it"),
            "terminal": lambda here, job: here.run("jobs", "change", job, "--message", "Cut it"),
            "api": lambda here, job: here.ask("PATCH", f"/jobs/{job}", {"text": "Cut it"}),
            "mcp": lambda here, job: here.propose(
                "manage_jobs", action="change", job=int(job), text="Cut it"
            ),
        },
        look=look_at_job,
        left=("active", "Cut it"),
    ),
    on_job("resume", "resume", make_repeating_job, ("active", "Water it")),
    Row(
        deed="Pause, resume, run, delete",
        ready=make_job,
        by=on_job("run", "run_now", make_job, None).by,
        look=look_at_runs,
        left=["done"],
    ),
    Row(
        deed="Create a reminder or a job",
        by={
            "chat": lambda here, name: here.tell_and_agree(
                "schedule_job", text=name, when="every day at 9:00"
            ),
            "page": lambda here, name: here.post(
                "/jobs/new", kind="prompt", text=name, when="every day at 9:00"
            ),
            "terminal": lambda here, name: here.run(
                *("jobs", "add", "--person", "olga", "--when", "every day at 9:00"),
                *("--prompt", name),
            ),
            "api": lambda here, name: here.ask(
                "POST", "/jobs", {"kind": "prompt", "text": name, "when": "every day at 9:00"}
            ),
            "mcp": lambda here, name: here.propose(
                "schedule_job", text=name, when="every day at 9:00"
            ),
        },
        look=look_at_new_job,
        left=[("prompt", "active", "cron 0 9 * * *")],
    ),
    change(
        *("urgent", True, look_at_urgency),
        lambda here, job: here.post(f"/jobs/{job}/urgent"),
        lambda here, job: here.tell_and_agree(
            "manage_jobs", action="change", job=int(job), other={"urgent": True}
        ),
        "--urgent",
    ),
    change(
        *("model", "small", look_at_model),
        lambda here, job: here.post(f"/jobs/{job}/change", model="small"),
        lambda here, job: here.chat(f"/model job {job} small"),
        "--model small",
    ),
    Row(
        deed="Get a new web address for one",
        ready=make_awaited_job,
        by={
            "chat": lambda here, one: here.chat(f"/reminders webhook {one.split()[0]}"),
            "terminal": lambda here, one: here.run("jobs", "webhook", one.split()[0]),
        },
        look=look_at_address,
        left=True,
    ),
    Row(
        deed="Choose where reminders go",
        ready=forget_home,
        by={
            "chat": lambda here, _: here.chat("/sethome"),
            "page": lambda here, _: here.post("/settings", home="fake", shown="home"),
            "terminal": lambda here, _: here.run("people", "set", "olga", "home", "fake"),
            "api": lambda here, _: here.ask("PATCH", "/settings", {"home": "fake"}),
        },
        look=look_at_home,
        left=Chat(platform="fake", address=f'["{OLGA}",null,true]'),
    ),
)
