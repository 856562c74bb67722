"""Builds the parts of an assistant in a program."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.agent.agent import Agent
from agent_core.agent.caches import SessionCache
from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.compaction.summaries import Summarizer
from agent_core.agent.compaction.token_meter import ContextRules, TokenMeter
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.mail import AgentMail
from agent_core.agent.prompt.prompt_cache import PromptCache
from agent_core.agent.quotas.balance import DailyLimit
from agent_core.agent.quotas.reservations import QuotaRules, Quotas
from agent_core.agent.toolboxes import Toolboxes
from agent_core.agent.toolset import private_tools
from agent_core.library.options import AgentOptions
from agent_core.memory.approval import Approval
from agent_core.memory.archive.inventory import Inventory
from agent_core.memory.shared import SharedMemory
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.models.contract import Model
from agent_core.models.loading import load_provider
from agent_core.models.router import ModelPolicy, ModelRouter, split_name
from agent_core.models.settings import ANTHROPIC, OPENAI, AnthropicSettings, OpenAISettings
from agent_core.state.engine.database import Database
from agent_core.tools.chat.todo import TodoTool
from agent_core.tools.contract import Tool
from agent_core.tools.policy.policy import Policy
from agent_core.tools.policy.protected import Protected
from agent_core.tools.toolbox import Toolbox, ToolSetup
from agent_core.tools.workspace.catalog import make_workspace_tools
from agent_core.tools.workspace.workspaces import Workspaces

_UNLIMITED = DailyLimit(money=0, tokens=0)
_CONTEXT = ContextRules(cap_tokens=120_000, threshold_percent=80, window_tokens=0, compact_tokens=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts that an assistant uses by itself."""

    agent: Agent
    memory: MemoryStore
    tool_names: tuple[str, ...]


def open_model(name: str, api_key: str, base_url: str) -> Model:
    """Load the provider in a model's name.

    Raises `ValueError` with a sentence for a wrong name, key or address.
    """
    provider, _ = split_name(name)
    if not provider:
        raise ValueError(
            f'The model "{name}" names no provider; write for instance'
            " anthropic:claude-sonnet-4-5, openai:gpt-5 or scripted:stand-in."
        )
    settings: object = None
    if provider == "anthropic":
        settings = AnthropicSettings(api_key=api_key, base_url=base_url or ANTHROPIC)
    elif provider == "openai":
        settings = OpenAISettings(api_key=api_key, base_url=base_url or OPENAI)
    return ModelRouter({provider: load_provider(provider, settings)}, default=provider)


def make_parts(
    home: Path, database: Database, model: tuple[str, Model], options: AgentOptions
) -> Parts:
    """Make the parts. `model` is its name and its provider. Raises `ValueError` for two tools of
    one name.
    """
    name, provider = model
    memory = MemoryStore(database, home / "memories", MemoryLimits())
    shared, inventory = SharedMemory(database, memory), Inventory(database)
    tools = (
        *private_tools(database, shared, Approval(database), inventory, options.backend),
        TodoTool(database),
        *_make_workspace_tools(options),
        *options.tools,
    )
    quotas = Quotas(
        rules=QuotaRules(person=_UNLIMITED, deployment=_UNLIMITED, cheap_from=100, zone="UTC"),
        prices=options.prices,
        database=database,
        now=options.now,
    )
    agent = Agent(
        database=database,
        model=provider,
        policy=ModelPolicy(
            model=name,
            patience=options.patience or None,
            max_output_tokens=options.max_output_tokens,
        ),
        limits=options.limits,
        quotas=quotas,
        toolboxes=_make_toolboxes(home, database, tools, inventory, options),
        prompts=PromptCache(
            home=home,
            cache_ttl="5m",
            files=None,
            database=database,
            memory=shared,
            now=options.now,
        ),
        sessions=SessionCache(database),
        compactor=Compactor(
            database=database,
            summarizer=Summarizer(model=provider, names=(name,), quotas=quotas),
            meter=TokenMeter(provider=provider, model=name, rules=_CONTEXT),
            now=options.now,
        ),
        recall_tokens=800,
        agents=AgentFolder(home),
        agent_mail=AgentMail(database, options.now),
        now=options.now,
    )
    return Parts(agent=agent, memory=memory, tool_names=tuple(one.spec.name for one in tools))


def _make_workspace_tools(options: AgentOptions) -> tuple[Tool, ...]:
    if options.backend is None:
        return ()
    return make_workspace_tools(options.backend, None, command_seconds=options.commands)


def _make_toolboxes(
    home: Path,
    database: Database,
    tools: Sequence[Tool],
    inventory: Inventory,
    options: AgentOptions,
) -> Toolboxes:
    """Make the toolboxes. Nobody can be asked, so calls that need a yes are refused."""
    setup = ToolSetup(overflow=Workspaces(options.backend) if options.backend else None)
    return Toolboxes(
        private=Toolbox(
            tools, policy=Policy(database, protected=Protected(home=str(home))), setup=setup
        ),
        room=Toolbox(()),
        inventory=inventory,
    )
