"""Commands for a person's settings: settings, verbose, model, and an app's home page."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.errors import ToolArgumentError
from agent_core.localization import (
    LANGUAGES,
    choose_language,
    join_list,
    set_language,
    use_language,
)
from agent_core.schedule.confirmations import KEEP, MOVE, ask_to_move, list_left
from agent_core.schedule.job_editor import (
    InvalidJob,
    JobRequest,
    JobRules,
    name_change_undo,
    redraft_job,
)
from agent_core.schedule.receipts import confirm_changed
from agent_core.shown_settings import VERBOSITIES, name_city
from agent_core.state.conversations.questions import Choice, Style
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.tools.clock import describe_days
from agent_core.tools.settings_tool import (
    DAYS_OFF,
    NAMES,
    SPOKEN_ANSWERS,
    TIME_ZONE,
    confirm_set_back,
    describe_hours,
    list_values,
    name_setting_undo,
    name_settings,
)
from gateway.commands.conversation import StatusReport
from gateway.commands.jobs import digest_zone
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.operations.contract import PreferenceContext
from gateway.operations.jobs import set_options
from gateway.operations.settings import (
    BACK,
    DEFAULT,
    MODEL,
    PersonalSettings,
    change_settings,
    digest_model,
    find_model,
    find_settings,
    list_settings,
    name_back,
    parse_settings,
    save_settings,
    set_model,
    set_values,
)
from gateway.outbound.command_buttons import offer_command, stand_for
from gateway.people.onboarding import suggest_cities
from gateway.texts import general
from gateway.texts import jobs as job_texts
from gateway.texts import models as model_texts
from gateway.texts.attachments import SPEECH_BUTTONS, show_speech
from gateway.texts.jobs import list_coming
from gateway.texts.memory import UNDO
from gateway.texts.models import ModelLine
from gateway.texts.rooms import ONLY_IN_DIRECT
from gateway.texts.undo import FIXED
from gateway.texts.usage import describe_cap

_LEVELS = ("quiet", "normal", "verbose")
_MOST_BUTTONS = 20
"""No platform shows more than 25."""
_NEXT_JOBS = 5
"""Number of jobs on a home page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsCommands:
    """Shows and changes the settings of a person."""

    database: Database
    report: StatusReport
    zone_of: Callable[[Person], str]
    preferences: PreferenceContext

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"settings": self._settings, "verbose": self._verbose, "home": self._home}

    async def _settings(self, call: Call) -> Reply:
        if not call.argument and not call.message.address.is_direct:
            return Reply(text=ONLY_IN_DIRECT())
        if not call.argument:
            return _show(await self._look(call), call.zone)
        return await self._set(call, call.argument, _show)

    async def _verbose(self, call: Call) -> Reply:
        is_on = call.person.verbosity == "verbose"
        wanted = call.argument.lower() or ("off" if is_on else "on")
        if wanted not in ("on", "off"):
            return Reply(text=general.VERBOSE_USAGE())
        return await self._set(
            call, f"verbosity {'verbose' if wanted == 'on' else 'normal'}", _show
        )

    async def _home(self, call: Call) -> Reply:
        status = await self.report.describe(call)
        next_jobs = list_coming(await self.database.read(_list_next_jobs, call), call.clock)

        def show(wanted: PersonalSettings, zone: str) -> Reply:
            settings = _show(wanted, zone, command="home")
            return Reply(
                text=general.HOME(status=status, digests=next_jobs, settings=settings.text),
                buttons=settings.buttons,
            )

        if call.argument:
            return await self._set(call, call.argument, show)
        return show(await self._look(call), call.zone)

    async def _set(
        self, call: Call, words: str, show: Callable[[PersonalSettings, str], Reply]
    ) -> Reply:
        """Change the named settings and show all; an invalid value changes nothing.

        In a room the settings stay hidden: others must not read when a person sleeps.
        """
        is_direct = call.message.address.is_direct
        if call.is_press and not is_direct:
            # Anyone in a room can press another person's buttons.
            return Reply(text=ONLY_IN_DIRECT())
        values = parse_settings(words)
        name, value = values[0]
        if name == BACK and call.is_undo:
            return Reply(effect=lambda connection: self._set_again(connection, call, value or ""))
        if name in NAMES and value is None:
            return Reply(text=general.SETTING_MISSING(name=words.strip()))
        try:
            expected = change_settings(await self._look(call), values)
        except ToolArgumentError as error:
            return Reply(text=str(error), is_refusal=True)

        # A language without a catalogue leaves the sentences in the one of before.
        chosen = expected.person.language
        before = call.person.language if chosen else None
        tags = (chosen, before, call.message.sender.language)
        move, buttons = "", tuple[Choice, ...]()
        if is_direct:
            zones = (self.zone_of(call.person), self.zone_of(expected.person))
            with use_language(*tags):
                move, buttons = await self.database.read(lambda c: offer_move(c, call, *zones))
                if buttons:
                    undo = name_setting_undo(TIME_ZONE, {TIME_ZONE: call.person.time_zone or ""})
                    buttons = (*offer_command(undo, UNDO()), *buttons)

        def effect(connection: Connection) -> Outcome:
            found = find_settings(connection, call.person, can_speak=self.preferences.can_speak)
            wanted = change_settings(found, values)
            person = wanted.person
            set_language(*tags)
            save_settings(connection, wanted, zone=self.zone_of(person), now=call.now)
            listed = (list_values(one.person, one.days_off) for one in (found, wanted))
            before, shown = ({name: one.get(name, "") for name, _ in values} for one in listed)
            note_settings(connection, call, before, shown, words)
            if call.is_undo and wanted == found:  # of a call that set what was so already
                return FIXED(change=name_settings(shown)), []
            if call.is_undo:
                return confirm_set_back(shown), []
            if not is_direct and name == "verbosity":  # nothing private, and a bare word toggles it
                shown_steps = VERBOSITIES[person.verbosity]()
                return general.VERBOSITY_SAVED(shown=shown_steps), []
            if not is_direct:
                return general.SETTING_SAVED(), []
            text = f"{_name_gap(shown, person)}{show(wanted, self.zone_of(person)).text}{move}"
            return text if call.is_press else f"{general.SETTING_SAVED()}\n\n{text}", []

        with use_language(*tags):
            shown = show(expected, self.zone_of(expected.person))
        return Reply(effect=effect, buttons=(buttons or shown.buttons) if is_direct else ())

    def _set_again(self, connection: Connection, call: Call, told: str) -> Outcome:
        """Set the values that `/undo` gives back. Raises `WrongSettings`."""
        values, can_speak = json.loads(told), self.preferences.can_speak
        before = list_settings(connection, call.person, can_speak=can_speak)
        set_values(connection, call.person, values, self.preferences, self.zone_of, call.now)
        after = list_settings(connection, call.person, can_speak=can_speak)
        set_language(after["language"] or None, call.message.sender.language)
        note_settings(connection, call, before, after)
        return confirm_set_back({name: after.get(name, "") for name in values}), ()

    async def _look(self, call: Call) -> PersonalSettings:
        can_speak = self.preferences.can_speak
        return await self.database.read(find_settings, call.person, can_speak=can_speak)


def _name_gap(changed: Collection[str], person: Person) -> str:
    """Say that a chosen language has no catalogue, and which have one; "" if it has."""
    tag = person.language or ""
    has_catalogue = choose_language(tag) == tag.partition("-")[0].casefold()
    if "language" not in changed or not tag or has_catalogue:
        return ""
    languages = join_list([*LANGUAGES.values()])
    return f"{general.LANGUAGE_PARTLY(language=tag, languages=languages)}\n\n"


def note_settings(
    connection: Connection,
    call: Call,
    before: Mapping[str, str],
    after: Mapping[str, str],
    words: str = "",
) -> None:
    """Record which settings a command changed, for `/undo`; `words` are those behind `/settings`.

    Values are listed by the names of settings. If none has changed, `after` is what was so already.
    """
    old = {name: value for name, value in before.items() if value != after[name]}
    if not old:
        call.note_fixed(connection, name_settings(after))
        return
    new = {name: after[name] for name in old}
    call.note_deed(
        connection, f"settings {words}", name_back(old), name_settings(new), name_back(new)
    )


def offer_move(
    connection: Connection, call: Call, zone: str, to: str
) -> tuple[str, tuple[Choice, ...]]:
    """Ask whether jobs move to another time zone; return nothing if no job could move."""
    left = list_left(connection, person_id=call.person.id, zone=zone) if zone != to else []
    if not left:
        return "", ()
    move = stand_for(f"jobs move {digest_zone(zone)}", MOVE(), "good", says_yes=True)
    keep = stand_for("jobs", KEEP(), says_yes=False)
    return f"\n\n{ask_to_move(len(left), zone)}", (move, keep)


def _list_next_jobs(connection: Connection, call: Call) -> list[Job]:
    """List a person's next jobs, the earliest first."""
    found = jobs.list_of_person(connection, person_id=call.person.id)
    waiting = [job for job in found if job.state == "active" and job.next_slot]
    return sorted(waiting, key=lambda job: job.next_slot[1] if job.next_slot else 0)[:_NEXT_JOBS]


def _show(wanted: PersonalSettings, zone: str, command: str = "settings") -> Reply:
    person = wanted.person
    text = general.describe_settings(
        zone=zone,
        is_default_zone=not person.time_zone,
        values={
            "language": person.language or "",
            "hours": describe_hours(person),
            "days_off": describe_days(wanted.days_off),
            "cap": describe_cap(person.context_cap),
        },
        verbosity=person.verbosity,
        more=(show_speech(person.spoken_answers),) if wanted.can_speak else (),
    )
    return Reply(text=text, buttons=_make_buttons(wanted, zone, command))


def _make_buttons(wanted: PersonalSettings, zone: str, command: str) -> tuple[Choice, ...]:
    """Return buttons for detail, quiet times, spoken answers, the language and the time zone."""
    person = wanted.person
    levels = [
        stand_for(
            f"{command} verbosity {level}",
            VERBOSITIES[level](),
            "good" if level == person.verbosity else "plain",
        )
        for level in _LEVELS
    ]
    if person.quiet_from is None:
        night = stand_for(f"{command} quiet_hours night", general.QUIET_NIGHT())
    else:
        night = stand_for(f"{command} quiet_hours off", general.QUIET_OFF())
    if wanted.days_off:
        weekend = stand_for(f"{command} {DAYS_OFF} off", general.NO_DAYS_OFF())
    else:
        weekend = stand_for(f"{command} {DAYS_OFF} weekend", general.WEEKENDS_OFF())
    speech = [
        stand_for(f"{command} {SPOKEN_ANSWERS} {choice}", label())
        for choice, label in SPEECH_BUTTONS.items()
        if wanted.can_speak and choice != person.spoken_answers
    ]
    languages = [
        stand_for(f"{command} language {tag}", name)
        for tag, name in LANGUAGES.items()
        if person.language is None or tag != choose_language(person.language)
    ]
    zones = [
        stand_for(f"{command} time_zone {word}", general.ZONE_BUTTON(city=name_city(one)))
        for one, word in suggest_cities()
        if one != zone
    ]
    return (*levels, night, weekend, *speech, *languages, *zones)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """The model that a command is about: a job's if there is one, else the caller's own."""

    job: Job | None
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCommands:
    """Shows and changes the model of a person or of a job.

    `models` are those to choose from, the default first. `hears` is true if voice notes are read.
    """

    database: Database
    models: Sequence[ModelLine]
    rules: JobRules
    hears: bool

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"model": self._model}

    async def _model(self, call: Call) -> Reply:
        words = call.argument.split()
        number = None
        if words[:1] == ["job"]:
            number = words[1].removeprefix("#") if len(words) > 1 else ""
            words = words[2:]
        try:
            current = await self.database.read(self._find, call, number)
            if not words:
                return self._show(current)
            wanted = find_model([line.name for line in self.models], " ".join(words))
            job = self._redraft(current.job, wanted, call.now) if current.job else None
        except InvalidJob as error:
            return Reply(text=job_texts.describe_invalid(error))
        except LookupError as reason:
            return Reply(text=str(reason))
        shown = self._show(_Choice(job=job, model=wanted))

        def effect(connection: Connection) -> Outcome:
            if current.job is None:
                before = self._find(connection, call, None).model
                set_model(connection, call.person.id, wanted)
                note_settings(connection, call, {MODEL: before}, {MODEL: wanted})
            else:
                fresh = self._find(connection, call, number).job
                assert fresh is not None  # noqa: S101 - a job was asked for, or it raises
                options = replace(fresh.options, model=wanted)
                set_options(connection, fresh, options, rules=self.rules, now=call.now)
                words = f"model job {fresh.id} {wanted or DEFAULT}"
                undo = name_change_undo(connection, fresh.id)
                done = confirm_changed(fresh, call.clock, undo)
                call.note_deed(connection, words, done.undo, done.text)
            return shown.text, []

        return Reply(effect=effect, buttons=shown.buttons)

    def _find(self, connection: Connection, call: Call, number: str | None) -> _Choice:
        """Return the present choice. Raises `LookupError` with a sentence."""
        if number is None:
            person = people.find(connection, person_id=call.person.id) or call.person
            return _Choice(job=None, model=person.model)
        found = jobs.list_of_person(connection, person_id=call.person.id)
        job = next((one for one in found if str(one.id) == number), None)
        if job is None:
            raise LookupError(model_texts.JOB_UNKNOWN())
        if job.kind != "prompt":
            raise LookupError(model_texts.JOB_NO_MODEL())
        return _Choice(job=job, model=job.options.model)

    def _redraft(self, job: Job, model: str, now: int) -> Job:
        request = JobRequest(options=replace(job.options, model=model))
        return redraft_job(job, request, rules=self.rules, now=now)

    def _show(self, choice: _Choice) -> Reply:
        default = self.models[0].name
        known = [line.name for line in self.models]
        is_default = choice.model not in known
        model = default if is_default else choice.model
        listed = model_texts.list_models(self.models, hears=self.hears)
        command = f"model job {choice.job.id}" if choice.job else "model"
        if choice.job:
            text = model_texts.describe_job_model(
                choice.job.title, model, listed, is_default=is_default
            )
        else:
            text = model_texts.describe_own(model, listed, is_default=is_default)
        buttons = [
            stand_for(
                f"{command} {digest_model(name)}",
                name,
                "good" if name == choice.model else "plain",
            )
            for name in known[:_MOST_BUTTONS]
        ]
        style: Style = "good" if is_default else "plain"
        reset = stand_for(f"{command} {DEFAULT}", model_texts.DEFAULT(), style)
        return Reply(text=text, buttons=(*buttons, reset))
