"""The running gateway: every service, declared once, with what it is made of."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import cached_property, partial

from adapters.contract import ChatAdapter
from agent_core.agent.accepted_calls import AcceptedCalls
from agent_core.agent.agent import Agent
from agent_core.agent.budget import Limits
from agent_core.agent.caches import SessionCache
from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.guided.model import GuidedModel
from agent_core.agent.id_allocator import IdAllocator
from agent_core.agent.named.editor import AgentEditor
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.mail import AgentMail
from agent_core.agent.quotas.background import BackgroundModel
from agent_core.agent.quotas.reservations import Quotas
from agent_core.agent.replay.session_log import SessionLog, enqueue_log
from agent_core.agent.review.reviewer import Reviewer
from agent_core.agent.review.room import Room
from agent_core.agent.titles import TitleGenerator
from agent_core.agent.toolboxes import Toolboxes
from agent_core.digest.tools import DigestOptions
from agent_core.execution.selected import SelectedBackends
from agent_core.ids import InboxId, PersonId
from agent_core.memory.archive.conclusions import LocalUserModel
from agent_core.memory.external.client import ExternalMemory
from agent_core.memory.shared import SharedMemory
from agent_core.memory.sync import scan_all
from agent_core.models.catalog import reads_pdf
from agent_core.models.contract import Model, Prepares
from agent_core.models.profiles import Profiles
from agent_core.models.router import ModelPolicy, split_name
from agent_core.money import count_micro_dollars
from agent_core.schedule.wall_clock import is_zone
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.drafts import Drafts
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.state.engine.database import Database
from agent_core.state.people.people import Person
from agent_core.state.queues import curations, reviews, skill_tests
from agent_core.tools.mcp.accounts import SendLink
from agent_core.tools.mcp.hub import McpServers
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.text_cleaner import TextCleaner
from agent_core.tools.workspace.background import BackgroundCommands, BackgroundLimits
from agent_core.tools.workspace.versions import FileVersions
from agent_core.transcript import STAND_IN
from gateway.app import factories, maintenance, scheduling, toolboxes
from gateway.app.agent_folders import make_agent_folder, make_editor
from gateway.app.commands import make_commands
from gateway.app.extensions import Extensions
from gateway.app.job_rules import find_unpriced
from gateway.app.media import make_reader, make_speech_command
from gateway.app.named_backends import list_used
from gateway.app.platform_supervisor import Platforms
from gateway.app.settings import Settings, environment
from gateway.background.agent_messages import AgentMessages
from gateway.background.alert_conditions import Gauge
from gateway.background.alerts import AlertWatch
from gateway.background.command_ends import CommandEnds
from gateway.background.curation import Curation
from gateway.background.disappearing import Disappearing
from gateway.background.home_skills import HomeSkills
from gateway.background.lost_store import LOST_STORE_LOOK, LostStoreAlarm
from gateway.background.model_trust import ModelTrust
from gateway.background.retention import Sweeper
from gateway.background.reviews import NOTES_TASK, SUMMARY_TASK, Reviews
from gateway.background.silence import Silence
from gateway.background.skill_curator import Curator
from gateway.background.skill_tests import SkillTests
from gateway.background.warming import Warming
from gateway.commands.catalog import OWN_NAMES
from gateway.commands.connections import ConnectionCommands
from gateway.commands.mcp import McpCommands
from gateway.commands.registry import SlashCommand
from gateway.commands.skills import SkillCommands
from gateway.fairness import FairSemaphore, Signal
from gateway.home import BACKUPS, VERSIONS
from gateway.inbound.command_runner import CommandRunner
from gateway.inbound.known_conversations import KnownConversations
from gateway.inbound.router import InboundRouter
from gateway.jobs.agent_runs import AgentRuns
from gateway.jobs.calendars import Calendars
from gateway.jobs.destinations import ChatMessenger
from gateway.jobs.events import EventJobs
from gateway.jobs.gates import GateChecker
from gateway.jobs.history import JobHistory
from gateway.jobs.new_times import make_time_answerer
from gateway.jobs.notifier import Notifier
from gateway.jobs.outcomes import Outcomes
from gateway.jobs.runner import JobRunner, SystemTask
from gateway.jobs.system_jobs import (
    BACKUP,
    CALENDARS,
    CURATOR,
    MEMORY_SYNC,
    RETENTION,
    Backups,
    ensure_system_jobs,
    make_triggers,
    sync_memory,
)
from gateway.jobs.ticker import Scheduler
from gateway.jobs.watches import EventSources
from gateway.known_platforms import introduce_others
from gateway.outbound.command_formatter import CommandFormatter
from gateway.outbound.composer import Composer
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.progress_lines import ProgressLines
from gateway.outbound.questions import Questions
from gateway.outbound.webhooks.dispatcher import WebhookDispatcher
from gateway.people.admission import UNATTENDED
from gateway.people.data_confirmations import DataConfirmations
from gateway.people.data_erase import DataErase
from gateway.people.data_export import DataExport
from gateway.people.data_forget import DataForget
from gateway.people.data_requests import DataRequests, RequestQueue
from gateway.people.identity import Identity
from gateway.people.linking import Linking
from gateway.people.merging import AccountMerging
from gateway.people.onboarding import Access, Onboarding
from gateway.people.owner_notices import Notices
from gateway.people.reading_consent import make_reading_answerers
from gateway.people.room_consent import RoomConsent, make_consent_answerers
from gateway.people.rooms import Rooms
from gateway.turns.attachment_stage import AttachmentStage
from gateway.turns.call_approvals import make_call_answerers
from gateway.turns.client_calls import ClientCalls
from gateway.turns.finalizer import TurnFinalizer
from gateway.turns.handle import TurnHandles
from gateway.turns.lanes import Lanes
from gateway.turns.open_notes import answer_notes
from gateway.turns.proposals import PROPOSAL_TASK, AcceptedProposals, answer_proposal
from gateway.turns.runner import TurnRunner
from gateway.turns.spoken_answers import SPEECH_TASK, SpokenAnswers
from gateway.turns.user_prompts import UserPrompts


class Gateway:
    """A gateway from its opened resources, for the code that starts it and what runs beside it.

    Each service is declared once, as a property that constructs it from the others. `build`
    constructs every one before anything starts, so none is constructed later, and every error of
    the settings is raised there. No service is changed afterwards.
    """

    claim_code: str | None = None
    """A code to claim the bot with, if no owner has an account on a chat platform yet."""

    def __init__(
        self,
        *,
        settings: Settings,
        extensions: Extensions,
        database: Database,
        model: Model,
        profiles: Profiles,
        external_memory: ExternalMemory | None,
        backend: SelectedBackends | None,
        group: asyncio.TaskGroup,
    ) -> None:
        """`backend` is the place where commands run; None without tools that act.

        `group` runs all tasks. `lifecycle.serve` enters it.
        """
        self.settings = settings
        self.extensions = extensions
        self.database = database
        self.model = model
        self.profiles = profiles
        self.external_memory = external_memory
        self.backend = backend
        self.group = group
        self.now = extensions.now
        self.zone = settings.zone
        self.started = time.monotonic()
        self.job_due = asyncio.Event()
        """Set after a write that may make a job due earlier."""
        self.wake_jobs = self.job_due.set
        self.tasks_due = asyncio.Event()
        """Set after a write that queues a background task for which somebody waits."""
        self.speech_due = asyncio.Event()
        """Set after a write that queues an answer to be converted to speech."""
        self.data_removed = Signal[None]()
        """Emitted after personal data was removed, so that caches drop it."""
        self.stale_messages = Signal[Sequence[InboxId]]()
        """Emitted with messages that have to be routed again."""
        self.ready = Signal[None]()
        """Emitted once, after the start: what was left out of it for speed may load now."""

    def build(self) -> None:
        """Construct every service and connect the signals; nothing runs yet.

        Raises `StartError`.
        """
        for name, declared in vars(Gateway).items():
            if isinstance(declared, cached_property):
                getattr(self, name)
        self._connect()

    def _connect(self) -> None:
        self.rooms.closed.connect(lambda closed: self.dispatcher.enqueue(closed.rows))
        self.rooms.closed.connect(lambda closed: self.lanes.leave(closed.room))
        self.data_removed.connect(lambda _: self.forget_known())
        self.dispatcher.moved.connect(lambda _: self.forget_known())
        self.data_removed.connect(lambda _: self.agent.clear_caches())
        self.data_removed.connect(lambda _: self.warming.forget())
        if background := self.background_commands:
            self.data_removed.connect(lambda _: background.kill_erased())
        self.stale_messages.connect(self.router.route_again)
        self.stale_messages.connect(self.agent_messages.give_again)
        self.questions.answered.connect(lambda _: self.tasks_due.set())
        self.questions.answered.connect(lambda _: self.wake_jobs())
        self.ready.connect(lambda _: self._prepare_model())

    def wake_due(self) -> None:
        """Wake what may be due earlier after a command: jobs and webhooks."""
        self.wake_jobs()
        self.webhooks.wake()

    def forget_known(self) -> None:
        """Drop cached people, rooms and conversations, after a write that may outdate them."""
        self.identity.forget_known()
        self.rooms.forget_known()
        self.conversations.forget_known()
        self.agent.invalidate_conversations()

    def is_at_rest(self) -> bool:
        """Return whether the gateway is idle: no event, turn, message or job run is in progress.

        Neither does the scheduler look for due work, which may begin some.
        """
        services = (self.router, self.scheduler, self.job_runs, self.lanes, self.dispatcher)
        return all(service.is_idle() for service in services)

    def waits_for_people(self) -> bool:
        """Return whether every running turn waits for a person's answer, and nothing else is busy.

        These turns don't need this process: the next one can wait for the answers, too.
        """
        is_rest_idle = self.router.is_idle() and self.dispatcher.is_idle()
        return is_rest_idle and self.questions.answers.count_turns() == len(self.lanes)

    def zone_of(self, person: Person | None) -> str:
        """Return the IANA time zone of a person; the deployment's without a known one."""
        named = person.time_zone if person else None
        return named if named and is_zone(named) else self.zone

    # People

    @cached_property
    def platforms(self) -> Platforms:
        adapters = {**factories.load_adapters(self.settings), **self.extensions.adapters}
        introduce_others(adapters.keys() - UNATTENDED)
        return Platforms(adapters)

    @property
    def adapters(self) -> Mapping[str, ChatAdapter]:
        """The enabled platforms by name."""
        return self.platforms.adapters

    @cached_property
    def quotas(self) -> Quotas:
        return factories.make_quotas(self.settings, self.database, self.zone)

    @cached_property
    def memory(self) -> SharedMemory:
        return factories.make_memory(self.settings, self.database)

    @cached_property
    def user_model(self) -> LocalUserModel | None:
        return factories.make_user_model(self.settings, self.database)

    @cached_property
    def identity(self) -> Identity:
        return Identity(
            self.database,
            Access(self.settings.access.allow),
            self.now,
            zone=self.zone,
            owner_zone=self.settings.people.time_zone,
            adapters=self.adapters,
            tell_owners=self.notices.tell_of_stranger,
        )

    @cached_property
    def rooms(self) -> Rooms:
        return Rooms(database=self.database, adapters=self.adapters, now=self.now)

    @cached_property
    def consent(self) -> RoomConsent:
        return RoomConsent(
            database=self.database,
            room_directory=self.rooms,
            questions=self.questions,
            dispatcher=self.dispatcher,
            now=self.now,
        )

    @cached_property
    def merging(self) -> AccountMerging:
        return AccountMerging(self.memory.store)

    @cached_property
    def linking(self) -> Linking:
        return Linking(
            database=self.database,
            questions=self.questions,
            merging=self.merging,
            adapters=self.adapters,
            now=self.now,
        )

    @cached_property
    def onboarding(self) -> Onboarding:
        greets_on = self.adapters.keys() - UNATTENDED if self.settings.access.greet else ()
        return Onboarding(
            self.database,
            self.zone,
            self.adapters.keys(),
            greets_on=greets_on,
            renew=self.identity.renew,
            has_model=self.model.provider != STAND_IN,
        )

    @cached_property
    def exports(self) -> DataExport:
        return DataExport(self.database, self.settings.home, adapters=self.adapters, now=self.now)

    @cached_property
    def forgetting(self) -> DataForget:
        versions = self.file_versions
        return DataForget(
            self.database,
            self.memory.store,
            self.settings.home,
            now=self.now,
            forget_versions=versions.forget if versions else None,
        )

    @cached_property
    def request_queue(self) -> RequestQueue:
        return RequestQueue()

    @cached_property
    def data_requests(self) -> DataRequests:
        erasing = DataErase(
            self.database,
            self.memory.store,
            self.settings.home,
            now=self.now,
            renew=partial(self.data_removed.emit, None),
            end_sign_ins=self.mcp.sign_ins.tidy,
            stop_turns=self.lanes.stop_of,
        )
        return DataRequests(
            self.request_queue,
            self.forgetting,
            erasing,
            database=self.database,
            questions=self.questions,
            enqueue=self.dispatcher.enqueue,
            lines=self.lines,
            now=self.now,
        )

    # Outbound

    @cached_property
    def secret_mask(self) -> SecretMask:
        return SecretMask(self.settings.hidden)

    @cached_property
    def notifier(self) -> Notifier:
        history = JobHistory(self.load_ids)
        return Notifier(self.adapters, history, zone_of=self.zone_of)

    @cached_property
    def dispatcher(self) -> OutboxDispatcher:
        def list_names() -> list[str]:
            return [*OWN_NAMES, *(skill.name for skill in self.skills.list_commands())]

        return OutboxDispatcher(
            group=self.group,
            database=self.database,
            composer=Composer(
                self.database,
                self.adapters,
                CommandFormatter(list_names),
                TextCleaner(self.secret_mask),
            ),
            reroute=self.notifier.reroute,
            now=self.now,
            timings=self.extensions.timings.delivery,
        )

    @cached_property
    def notices(self) -> Notices:
        return Notices(self.database, self.dispatcher)

    @cached_property
    def lines(self) -> ProgressLines:
        first = self.extensions.timings.first_progress
        return ProgressLines(self.dispatcher, self.database, first=first)

    @cached_property
    def questions(self) -> Questions:
        return Questions(
            database=self.database,
            dispatcher=self.dispatcher,
            zone_of=self.zone_of,
            now=self.now,
            answerers={
                **self.merging.answerers(),
                **DataConfirmations(self.request_queue, self.settings.home).answerers(),
                **make_call_answerers(),
                "proposal": answer_proposal,
                "notes": answer_notes,
                **make_consent_answerers(),
                **make_reading_answerers(),
                "when": make_time_answerer(self.zone_of),
            },
        )

    @cached_property
    def webhooks(self) -> WebhookDispatcher:
        return WebhookDispatcher(
            group=self.group,
            database=self.database,
            allow_hosts=self.settings.webhooks.allow_hosts,
            is_admitted=lambda c, person_id: self.identity.find_admitted(c, person_id) is not None,
            tell=self.notices.tell_of_webhook,
            enqueue=self.dispatcher.enqueue,
            now=self.now,
            timings=self.extensions.timings.webhooks,
        )

    # Tools

    @cached_property
    def background_commands(self) -> BackgroundCommands | None:
        """The long-running commands; None without a backend."""
        table = self.settings.tools
        limits = BackgroundLimits(most=table.background, seconds=table.background_hours * 3600.0)
        if self.backend is None:
            return None
        return BackgroundCommands(self.database, self.backend, limits, self.now)

    @cached_property
    def file_versions(self) -> FileVersions | None:
        """The earlier versions of people's files; None without a backend."""
        if self.backend is None:
            return None
        return FileVersions(self.settings.home / VERSIONS, self.database, self.backend, self.now)

    @cached_property
    def agents(self) -> AgentFolder:
        return make_agent_folder(self.settings, [tool.spec.name for tool in self.extensions.tools])

    @cached_property
    def agent_editor(self) -> AgentEditor:
        """Changes named agents and teams."""
        home, database = self.settings.home, self.database

        def forget() -> None:
            self.memory.expect_blocks()
            self.forget_known()

        return make_editor(home, database, self.agents, self.now, self.load_ids, forget)

    @cached_property
    def skills(self) -> SkillDirectory:
        """The skills, which everybody shares."""
        backends = list_used(self.settings.tools)
        places = self.settings.skill_places
        catalog = SkillCatalog(*places, taken=OWN_NAMES, backends=backends)
        return SkillDirectory(catalog, self.database, self.settings.skills.prompt_tokens)

    @cached_property
    def send_link(self) -> SendLink:
        """Sends a person the link of a server in their direct chat."""
        return toolboxes.make_link_sender(self.database, self.notices, self.now)

    @cached_property
    def mcp(self) -> McpServers:
        return toolboxes.make_mcp_servers(
            self.settings,
            database=self.database,
            notices=self.notices,
            prompts=self.user_prompts,
            send_link=self.send_link,
            now=self.now,
        )

    @cached_property
    def toolboxes(self) -> Toolboxes:
        maker = toolboxes.ToolboxMaker(
            settings=self.settings,
            database=self.database,
            memory=self.memory,
            user_prompts=self.user_prompts,
            external_memory=self.external_memory,
            now=self.now,
            backend=self.backend,
            purposes=self.backend.purposes if self.backend else {},
            background=self.background_commands,
            versions=self.file_versions,
            messenger=ChatMessenger(self.dispatcher, self.zone_of),
            zone=self.zone,
            secret_mask=self.secret_mask,
            forget_people=self.identity.forget_known,
            wake_jobs=self.wake_jobs,
            agents=self.agent_editor,
            skills=self.skills,
            quotas=self.quotas,
        )
        return maker.make_all(self.mcp, self.extensions.tools)

    @cached_property
    def client_calls(self) -> ClientCalls:
        """Runs the tool calls of people's other programs."""
        return ClientCalls(
            database=self.database,
            memory=self.memory,
            toolboxes=self.toolboxes,
            questions=self.questions,
            dispatcher=self.dispatcher,
            platforms=self.adapters.keys(),
            find_admitted=self.identity.find_admitted,
            load_ids=self.load_ids,
            now=self.now,
        )

    # Turns

    @cached_property
    def sessions(self) -> SessionCache:
        return SessionCache(self.database)

    @cached_property
    def load_ids(self) -> Callable[[], Awaitable[IdAllocator]]:
        """Returns the allocator of ids for turns and sessions. Raises `StoreError`."""
        return self.sessions.id_allocator

    @cached_property
    def compactor(self) -> Compactor:
        return factories.make_compactor(self.settings, self.database, self.model, self.quotas)

    @cached_property
    def agent_mail(self) -> AgentMail:
        """Messages that agents send each other without waiting for an answer."""
        return AgentMail(self.database, self.now)

    @cached_property
    def handles(self) -> TurnHandles:
        return TurnHandles()

    @cached_property
    def user_prompts(self) -> UserPrompts:
        return UserPrompts(
            database=self.database,
            dispatcher=self.dispatcher,
            questions=self.questions,
            handles=self.handles,
            now=self.now,
            patience=self.extensions.timings.answer_patience,
        )

    @cached_property
    def turn_model(self) -> GuidedModel:
        """The model of turns, which guides models that need it."""
        return GuidedModel(self.model, self.settings.model.mode)

    @cached_property
    def agent(self) -> Agent:
        settings, model, limits = self.settings, self.settings.model, self.settings.turns
        return Agent(
            database=self.database,
            model=self.turn_model,
            policy=ModelPolicy(
                model=model.name,
                fallbacks=model.fallbacks,
                cheap=model.cheap,
                patience=model.patience,
                max_output_tokens=model.max_output_tokens,
            ),
            models=model.named,
            job_patience=model.job_patience,
            limits=Limits(
                steps=limits.max_steps,
                tokens=limits.max_tokens,
                micro_dollars=count_micro_dollars(limits.max_cost_usd),
                seconds=limits.max_seconds,
            ),
            quotas=self.quotas,
            toolboxes=self.toolboxes,
            prompts=factories.make_prompt_cache(
                settings, self.database, self.memory, self.skills, self.now
            ),
            sessions=self.sessions,
            compactor=self.compactor,
            recall_tokens=settings.memory.recall_tokens,
            external_memory=self.external_memory,
            user_model=self.user_model,
            agents=self.agents,
            agent_mail=self.agent_mail,
            note_end=enqueue_log if settings.session_log.enabled else None,
            now=self.now,
        )

    @cached_property
    def finalizer(self) -> TurnFinalizer:
        return TurnFinalizer(
            database=self.database,
            agent=self.agent,
            dispatcher=self.dispatcher,
            questions=self.questions,
            outcomes=self.outcomes,
            review_rules=factories.make_review_rules(self.settings),
            mail_due=self.agent_mail.due,
            speech_due=self.speech_due if self.settings.media.speaking else None,
            wake_jobs=self.wake_jobs,
            zone_of=self.zone_of,
            now=self.now,
        )

    @cached_property
    def turns(self) -> TurnRunner:
        timings = self.extensions.timings
        return TurnRunner(
            database=self.database,
            agent=self.agent,
            dispatcher=self.dispatcher,
            questions=self.questions,
            finalizer=self.finalizer,
            note_fault=self.alerts.note_fault,
            wake_jobs=self.wake_jobs,
            zone_of=self.zone_of,
            now=self.now,
            start_delay=timings.start_delay,
            outage_pace=timings.outage_pace,
            display=timings.display,
        )

    @cached_property
    def lanes(self) -> Lanes:
        limits = self.settings.turns
        return Lanes(
            group=self.group,
            database=self.database,
            runner=self.turns,
            finalizer=self.finalizer,
            places=FairSemaphore(at_once=limits.at_once, per_person=limits.per_person),
            program_places=FairSemaphore(
                at_once=limits.at_once, per_person=max(1, limits.per_person - 1)
            ),
            rooms=self.rooms,
            answers=self.questions.answers,
            handles=self.handles,
            platforms=self.adapters.keys(),
            on_stale=self.stale_messages.emit,
            crash_wait=self.extensions.timings.crash_wait,
        )

    @cached_property
    def attachments(self) -> AttachmentStage:
        reader = make_reader(
            self.settings,
            database=self.database,
            adapters=self.adapters,
            now=self.now,
            report=partial(self.notices.notify_missing_permission, self.now),
            shows_pdf=reads_pdf(split_name(self.settings.model.name)[1]),
        )
        return AttachmentStage(
            group=self.group,
            database=self.database,
            reader=reader,
            lanes=self.lanes,
            dispatcher=self.dispatcher,
            now=self.now,
        )

    @cached_property
    def conversations(self) -> KnownConversations:
        return KnownConversations(self.database, self.now)

    @cached_property
    def command_runner(self) -> CommandRunner:
        return CommandRunner(
            database=self.database,
            commands=make_commands(self),
            find_command=self._find_command,
            onboarding=self.onboarding,
            attachments=self.attachments,
            dispatcher=self.dispatcher,
            zone_of=self.zone_of,
            forget_known=self.forget_known,
            wake=self.wake_due,
            now=self.now,
        )

    @cached_property
    def router(self) -> InboundRouter:
        return InboundRouter(
            group=self.group,
            database=self.database,
            identity=self.identity,
            linking=self.linking,
            onboarding=self.onboarding,
            rooms=self.rooms,
            consent=self.consent,
            conversations=self.conversations,
            commands=self.command_runner,
            questions=self.questions,
            attachments=self.attachments,
            lanes=self.lanes,
            dispatcher=self.dispatcher,
            adapters=self.adapters,
            hear=self.event_jobs.hear,
            prepare_model=self._prepare_model,
            forget_known=self.forget_known,
            now=self.now,
        )

    @cached_property
    def connection_commands(self) -> ConnectionCommands:
        """Everybody's commands about MCP servers."""
        return ConnectionCommands(self.mcp.sign_ins, self.send_link)

    @cached_property
    def mcp_commands(self) -> McpCommands:
        """The owners' commands about MCP servers."""
        return McpCommands(self.mcp, self.connection_commands)

    @cached_property
    def skill_commands(self) -> SkillCommands:
        has_model = self.model.provider != STAND_IN
        return SkillCommands(self.skills, self.database, has_model=has_model)

    async def _find_command(self, name: str, person_id: PersonId | None) -> SlashCommand | None:
        """Find a command that is not fixed: the prompt of an MCP server, or a skill."""
        prompt = await self.mcp_commands.find_prompt(name, person_id)
        return prompt or await self.skill_commands.find(name)

    def _prepare_model(self) -> None:
        """Load in the background what the model's first call needs."""
        if isinstance(self.model, Prepares):
            self.model.prepare()

    # Jobs

    @cached_property
    def outcomes(self) -> Outcomes:
        return Outcomes(self.notifier, zone_of=self.zone_of)

    @cached_property
    def event_jobs(self) -> EventJobs:
        """Starts jobs when an event happens."""
        return EventJobs(
            database=self.database,
            take=self.outcomes.take_event,
            enqueue=self.dispatcher.enqueue,
            wake=self.wake_jobs,
            now=self.now,
        )

    @cached_property
    def digest(self) -> DigestOptions:
        return scheduling.make_digest_options(self.settings, self.zone)

    @cached_property
    def calendars(self) -> Calendars:
        return scheduling.make_calendars(
            self.settings, self.database, self.zone, changed=self.wake_jobs, now=self.now
        )

    @cached_property
    def home_skills(self) -> HomeSkills:
        catalog = self.skills.catalog
        return HomeSkills(database=self.database, catalog=catalog, settings=self.settings.skills)

    @cached_property
    def system_tasks(self) -> Mapping[str, SystemTask]:
        """The work of the system's own jobs."""
        settings, database, now = self.settings, self.database, self.now
        renew = partial(self.data_removed.emit, None)
        return {
            BACKUP: Backups(database, scheduling.plan_backups(settings), now=now).make,
            RETENTION: Sweeper(database, settings.retention, now=now, renew=renew).work,
            CURATOR: Curator(
                database=database,
                skills=self.home_skills,
                notices=self.notices,
                learning=settings.learning,
                enqueue=self.dispatcher.enqueue,
                now=now,
            ).work,
            MEMORY_SYNC: partial(sync_memory, self.external_memory, now),
            CALENDARS: self.calendars.work,
        }

    @cached_property
    def agent_runs(self) -> AgentRuns:
        return AgentRuns(
            notifier=self.notifier,
            catalog=self.home_skills.catalog,
            agents=self.agents,
            find_unpriced=partial(find_unpriced, self.settings),
        )

    @cached_property
    def job_runs(self) -> JobRunner:
        script_limits = scheduling.make_script_limits(self.settings)
        return JobRunner(
            group=self.group,
            database=self.database,
            lanes=self.lanes,
            outcomes=self.outcomes,
            enqueue=self.dispatcher.enqueue,
            wake=self.wake_jobs,
            now=self.now,
            folder=self.settings.home,
            environ=environment(),
            script_limits=script_limits,
            cleaner=TextCleaner(self.secret_mask),
            gates=GateChecker(
                database=self.database,
                digest=self.digest,
                environ=environment(),
                limits=script_limits,
                now=self.now,
            ),
            agent_runs=self.agent_runs,
            system_tasks=self.system_tasks,
            at_once=self.settings.jobs.at_once,
        )

    @cached_property
    def scheduler(self) -> Scheduler:
        return Scheduler(
            database=self.database,
            runner=self.job_runs,
            outcomes=self.outcomes,
            notifier=self.notifier,
            enqueue=self.dispatcher.enqueue,
            wakeup=self.job_due,
            triggers=make_triggers(self.zone),
            now=self.now,
        )

    @cached_property
    def event_sources(self) -> EventSources:
        return EventSources(
            self.database,
            self.digest,
            self.outcomes,
            enqueue=self.dispatcher.enqueue,
            wake=self.wake_jobs,
            now=self.now,
            pause=self.extensions.timings.watch,
        )

    async def prepare_jobs(self) -> None:
        """Sync the skills, and create the system jobs. Raises `StoreError`."""
        await self.home_skills.sync(self.now())
        # The first calendar creates the job of calendars.
        absent = {CALENDARS, *(() if self.external_memory else (MEMORY_SYNC,))}
        wanted = set(self.system_tasks) - absent
        await self.database.write("works.ensure", ensure_system_jobs, wanted, self.zone, self.now())

    # Background

    @cached_property
    def alerts(self) -> AlertWatch:
        settings = self.settings
        gauge = Gauge(
            health=self.platforms.health,
            quotas=self.quotas,
            home=settings.home,
            backups=settings.home / BACKUPS if settings.jobs.backups else None,
            unread=self.memory.store.unread,
            now=self.now,
        )
        return AlertWatch(
            self.database,
            self.notices,
            gauge,
            models=settings.model.named,
            enqueue=self.dispatcher.enqueue,
            zone=self.zone,
            now=self.now,
            pause=settings.alerts.pause_minutes * 60_000,
            look=self.extensions.timings.alerts,
        )

    @cached_property
    def lost_store(self) -> LostStoreAlarm:
        """Tells owners if the database vanishes."""
        pause = self.extensions.timings.alerts
        look = min(LOST_STORE_LOOK, pause)
        return LostStoreAlarm(self.database, self.dispatcher, look=look, pause=pause)

    @cached_property
    def agent_messages(self) -> AgentMessages:
        """Starts turns that deliver a message between agents."""
        return AgentMessages(
            database=self.database,
            mail=self.agent_mail,
            lanes=self.lanes,
            notifier=self.notifier,
            now=self.now,
        )

    @cached_property
    def command_ends(self) -> CommandEnds | None:
        """Starts turns that report the end of a background command; None without a backend."""
        if self.backend is None or self.background_commands is None:
            return None
        return CommandEnds(
            database=self.database,
            backend=self.backend,
            background=self.background_commands,
            lanes=self.lanes,
            notifier=self.notifier,
            cleaner=TextCleaner(self.secret_mask),
            now=self.now,
        )

    @cached_property
    def trust(self) -> ModelTrust:
        """Tells whether the cheap model may work unseen."""
        name, settings = self.settings.model.cheap, self.settings
        provider = split_name(name)[0] or settings.model.provider
        is_local = settings.is_model_local and provider == "openai"
        return ModelTrust(model=self.model, name=name, is_local=is_local)

    @cached_property
    def reviews(self) -> Reviews:
        """Reviews finished turns and learns from them."""
        settings = self.settings
        reviewer = Reviewer(
            database=self.database,
            memory=self.memory.store,
            background=BackgroundModel(
                model=self.model,
                name=settings.model.cheap,
                quotas=self.quotas,
                is_batched=settings.learning.batch,
            ),
            now=self.now,
            skills=Drafts(self.skills.catalog, self.database) if settings.learning.steps else None,
            may_write=partial(self.trust.may, "skills"),
        )
        return Reviews(
            database=self.database,
            dispatcher=self.dispatcher,
            questions=self.questions,
            reviewer=reviewer,
            is_running=self.lanes.is_running,
            now=self.now,
            zone_of=self.zone_of,
            trust=self.trust,
            user_model=self.user_model,
        )

    @cached_property
    def disappearing(self) -> Disappearing:
        """Removes what the apps of its chat have deleted."""
        return Disappearing(
            database=self.database,
            now=self.now,
            renew=partial(self.data_removed.emit, None),
            poll=self.extensions.timings.disappearing,
        )

    @cached_property
    def silence(self) -> Silence:
        """Has turns reviewed after hours of silence."""
        return Silence(
            database=self.database,
            rules=factories.make_review_rules(self.settings),
            now=self.now,
            poll=self.extensions.timings.silence,
        )

    @cached_property
    def curation(self) -> Curation:
        """Looks for skills and notes to tidy up."""
        return Curation(
            database=self.database,
            dispatcher=self.dispatcher,
            memory=self.memory.store,
            catalog=self.skills.catalog,
            model=self.model,
            name=self.settings.model.cheap,
            quotas=self.quotas,
            trust=self.trust,
            is_running=self.lanes.is_running,
            now=self.now,
        )

    @cached_property
    def skill_tests(self) -> SkillTests:
        """Tests the agent's skills and tracks their results."""
        catalog = self.skills.catalog
        return SkillTests(
            database=self.database,
            dispatcher=self.dispatcher,
            notices=self.notices,
            model=self.model,
            quotas=self.quotas,
            sandbox=maintenance.make_sandbox(
                self.settings, catalog, self.backend, self.secret_mask, self.now
            ),
            is_running=self.lanes.is_running,
            now=self.now,
            longest=self.extensions.timings.replay,
        )

    @cached_property
    def titles(self) -> TitleGenerator:
        return TitleGenerator(
            database=self.database,
            model=self.model,
            name=self.settings.model.cheap,
            quotas=self.quotas,
        )

    @cached_property
    def session_log(self) -> SessionLog:
        files = maintenance.make_log_files(self.settings)
        erasures = self.data_requests.erasing.lock
        return SessionLog(self.database, files, self.secret_mask, erasures)

    @cached_property
    def task_runners(self) -> Sequence[maintenance.TaskRunner]:
        """Run queued tasks: one runner for quick ones, and one each for the slow kinds."""
        spoken_answers = SpokenAnswers(
            self.database,
            self.dispatcher,
            make_speech_command(self.settings.media),
            self.notices.enqueue_for_owners,
            self.now,
        )
        calls = AcceptedCalls(self.toolboxes, self.now)
        proposals = AcceptedProposals(
            database=self.database,
            dispatcher=self.dispatcher,
            calls=calls,
            room=Room(database=self.database, memory=self.memory.store, now=self.now),
            zone_of=self.zone_of,
            now=self.now,
        )
        quick = {
            **maintenance.make_handlers(
                database=self.database,
                memory=self.memory.store,
                titles=self.titles,
                notices=self.notices,
                log=self.session_log,
                now=self.now,
            ),
            PROPOSAL_TASK: proposals.apply,
            SUMMARY_TASK: self.reviews.summarize,
            NOTES_TASK: self.reviews.ask_open,
        }
        tests = self.skill_tests
        kinds: list[tuple[dict[str, maintenance.TaskHandler], asyncio.Event]] = [
            (quick, self.tasks_due),
            ({SPEECH_TASK: spoken_answers.apply}, self.speech_due),
            (
                {reviews.KIND: self.reviews.apply, curations.KIND: self.curation.apply},
                asyncio.Event(),
            ),
            ({skill_tests.KIND: tests.apply, skill_tests.CHECK: tests.check}, asyncio.Event()),
        ]
        return [
            maintenance.TaskRunner(
                database=self.database,
                handlers=handlers,
                now=self.now,
                wakeup=wakeup,
                poll=self.extensions.timings.task_poll,
            )
            for handlers, wakeup in kinds
        ]

    @cached_property
    def warming(self) -> Warming:
        """Warms a model server of this machine."""
        return Warming(self.database, self.settings.home, self.turn_model, self.settings.model.name)

    @cached_property
    def background(self) -> Sequence[Callable[[], Coroutine[object, object, None]]]:
        """Long-lived work besides platforms and the scheduler; each runs until cancelled."""
        idle_compactor = factories.make_idle_compactor(
            self.settings, self.compactor, self.quotas, self.lanes, self.agent
        )
        return [
            self.webhooks.run,
            *(runner.run for runner in self.task_runners),
            self.data_requests.run,
            self.mcp.run,
            idle_compactor.run,
            partial(scan_all, self.memory.store, self.database, self.now),
            *([self.external_memory.run] if self.external_memory else []),
            *([self.command_ends.run] if self.command_ends else []),
            self.agent_messages.run,
            self.warming.run,
            self.silence.run,
            self.disappearing.run,
            *([self.alerts.run, self.lost_store.run] if self.settings.alerts.enabled else []),
        ]
