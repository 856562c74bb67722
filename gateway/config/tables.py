"""The tables of `config.toml` and the credentials of the environment, as frozen values.

Titles and docstrings of this module become docs/configuration.md and config.example.toml, so they
are written for the people who set a setting. The program does not read them.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_core.state.people.people import LEAST_CAP, MOST_CAP
from gateway.config.types import (
    Accounts,
    FileNames,
    Hosts,
    Language,
    ListenAddress,
    OwnAddress,
    ServerAddress,
    Text,
    Texts,
    TimeZone,
)

YEARS = 36_500
"""The longest retention, in days: a hundred years."""


class Table(BaseModel):
    """A table. Values in `config.toml` need the exact type; text of variables is converted."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class AccessSettings(Table, title="Who may talk"):
    """Accounts that need no approval."""

    allow: Accounts = ()
    """Accounts that may talk without approval, as `"platform:user_id"`, for instance
    `"telegram:123456789"`. `"*"` admits everyone who finds the bot, at your cost.
    """
    greet: bool = True
    """Greet the people in `access.allow` when they write for the first time."""


class TurnSettings(Table, title="Limits of one turn"):
    """Concurrency, and the limits of one turn."""

    at_once: int = Field(400, ge=1, le=10_000)
    """Most turns that run at the same time."""
    per_person: int = Field(3, ge=1, le=100)
    """Most turns of one person at the same time. Requests over the API leave one for chats."""
    max_steps: int = Field(40, ge=1, le=1000)
    """Most model calls per turn."""
    max_tokens: int = Field(400_000, ge=1000, le=100_000_000)
    """Most tokens per turn, input and output together."""
    max_cost_usd: float = Field(1.0, ge=0, le=10_000)
    """Most US dollars per turn. 0 for no limit."""
    max_seconds: int = Field(900, ge=5, le=86_400)
    """Longest turn, in seconds."""
    drain_seconds: int = Field(15, ge=0, le=600)
    """Seconds that running turns get to finish a step when Talaria stops."""


class MemorySettings(Table, title="Memory"):
    """Size limits of the memory files, and the external memory."""

    memory_limit: int = Field(2200, ge=200, le=100_000)
    """Longest `MEMORY.md` of a person, in characters. It is part of every prompt, so a longer one
    costs more.
    """
    user_limit: int = Field(1375, ge=200, le=100_000)
    """Longest `USER.md` of a person, in characters. It is part of every prompt, too."""
    recall_tokens: int = Field(400, ge=0, le=4000)
    """Most tokens of past messages in a turn that refers to them, such as `What did I say about the
    boiler?`. 0 for none; the assistant can still search.
    """
    provider: Text = ""
    """An external memory, which receives conversations and memory entries under neutral names:
    `honcho`, or one of a plug-in. Empty for none. `honcho` needs `HONCHO_API_KEY`, or
    `HONCHO_BASE_URL` for a server of your own.
    """
    workspace: Text = "talaria"
    """The workspace of the external memory."""
    provider_tokens: int = Field(400, ge=50, le=4000)
    """Most tokens of the external memory in one turn."""


class RetentionSettings(Table, title="How long data is kept"):
    """Days after which finished data is removed; 0 keeps it forever."""

    inbox_days: int = Field(30, ge=0, le=YEARS)
    """Days to keep platform events after they are handled. 0 keeps them forever, here and below.
    Open and failed ones are always kept.
    """
    outbox_days: int = Field(30, ge=0, le=YEARS)
    """Days to keep the text of sent messages. Text that the transcript has, too, is kept for at
    most 1 day.
    """
    steps_days: int = Field(90, ge=0, le=YEARS)
    """Days to keep the separate record of tool results. The transcript has the results, too."""
    usage_days: int = Field(400, ge=0, le=YEARS)
    """Days after which the model calls of a day become one row per person, purpose and model."""
    files_days: int = Field(30, ge=0, le=YEARS)
    """Days to keep files that no message refers to."""
    messages_days: int = Field(0, ge=0, le=YEARS)
    """Days to keep messages."""
    webhooks_days: int = Field(30, ge=0, le=YEARS)
    """Days to keep webhook events that were delivered or that failed for good."""


class JobSettings(Table, title="Jobs"):
    """Scheduled jobs, and the nightly backup."""

    per_person: int = Field(50, ge=0, le=10_000)
    """Most jobs per person."""
    least_minutes: int = Field(5, ge=1, le=1440)
    """Fewest minutes between two runs of a job that uses the model or runs a program."""
    pause_after: int = Field(3, ge=1, le=100)
    """Failed runs in a row after which a new job is paused; a job may have its own limit."""
    at_once: int = Field(20, ge=1, le=1000)
    """Most job runs at the same time. They never delay answers to people."""
    backups: int = Field(7, ge=0, le=1000)
    """Nightly backups to keep in `backups/`. 0 for none."""
    script_memory_mb: int = Field(2000, ge=50, le=1_000_000)
    """Most memory of a script job with all its processes, in millions of bytes."""
    script_file_mb: int = Field(2000, ge=0, le=10_000_000)
    """Largest file that a script job may write, in millions of bytes."""
    script_processes: int = Field(64, ge=1, le=10_000)
    """Most processes of a script job at the same time."""


class PluginSettings(Table, title="Plug-ins"):
    """Plug-ins of other packages. Their code may do whatever Talaria may do."""

    enabled: Texts = ()
    """The plug-ins to load, by the names of their packages, as `talaria plugins list` shows them.
    No other plug-in is imported.
    """
    options: Texts = ()
    """Options of plug-ins, like `talaria-example.sides=20`. A value such as `$MATRIX_TOKEN` is read
    from the environment; use that for secrets.
    """


class PromptSettings(Table, title="The prompt"):
    """Context files that become part of the prompt."""

    folder: Text = Field("", json_schema_extra={"allowed": "a folder"})
    """A working folder whose context files become part of every prompt: a full path, or one inside
    the home directory. Empty for none.
    """
    context_files: FileNames = ("AGENTS.md", "CLAUDE.md", ".cursorrules")
    """The names of these files."""
    context_limit: int = Field(20_000, ge=0, le=1_000_000)
    """Most characters of one context file."""
    trust_files: bool = False
    """Treat these files as your own words, from the next `/new` on. Otherwise they count as an
    untrusted source: Talaria asks before it sends or changes anything.
    """


class ContextSettings(Table, title="Length of a conversation"):
    """Limits of a call's input, in tokens, above which a conversation is compacted."""

    cap_tokens: int = Field(120_000, ge=LEAST_CAP, le=MOST_CAP)
    """Most input tokens of one call. Older messages beyond it are summarised. People may set a
    lower cap with `/settings context_cap 50000`.
    """
    threshold_percent: int = Field(80, ge=30, le=95)
    """Share of the cap, or of the model's window, in percent, at which a conversation is summarised
    in any case.
    """
    compact_tokens: int = Field(26_000, ge=0, le=MOST_CAP)
    """Input tokens of a message's first call, above which older messages are summarised to save
    cost. A higher value keeps more of a conversation word for word, and costs more. 0 summarises
    only near the cap.
    """
    window_tokens: int = Field(0, ge=0, le=MOST_CAP)
    """Context window of your models, in tokens. 0 uses the built-in table."""


class DigestSettings(Table, title="Digests"):
    """Sources of digests."""

    github_url: ServerAddress = "https://api.github.com"
    """The GitHub API from which digests read, with `GITHUB_TOKEN`. The address of an Enterprise
    server ends in `/api/v3`.
    """
    allow_hosts: Hosts = ()
    """Hosts of this machine or its network that jobs and `web_fetch` may fetch from, each with or
    without a port, for instance `"cloud.lan"` or `"192.168.1.5:8080"`. Everyone who may talk here
    can read what is there.
    """


class HttpSettings(Table, title="HTTP server"):
    """The HTTP server. After `load`, port 0 means that the server is off."""

    port: int = Field(0, ge=0, le=65_535)
    """Port of the console page and `/health`. 0 turns the server off if a chat platform is
    configured; without one, 0 means 8765.
    """
    bind: ListenAddress = "127.0.0.1"
    """The address where the HTTP server listens. Everything but `/health` needs the token that
    `talaria run` prints.
    """
    public_url: OwnAddress = ""
    """The address under which others reach the HTTP server through a reverse proxy, such as
    https://talaria.example.org. It can't have a path, because the pages need a host of their own.
    It is shown in the addresses of webhooks.
    """

    @property
    def hooks(self) -> str:
        """The address of webhooks without their secret; "" without an HTTP server."""
        if not self.port:
            return ""
        return f"{self.pages}/hooks/"

    @property
    def pages(self) -> str:
        """The address of the console's pages, without a final slash; "" without an HTTP server."""
        if not self.port:
            return ""
        host = f"[{self.bind}]" if ":" in self.bind else self.bind
        return (self.public_url or f"http://{host}:{self.port}").rstrip("/")


class LogSettings(Table, title="Log"):
    """Level and destination of the log."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The lowest level that is logged."""
    format: Literal["text", "json"] = "text"
    """Lines of text, or one JSON object per line for programs."""
    file: bool = True
    """Whether the log is also written to `logs/talaria.log`."""


class PeopleSettings(Table, title="Defaults for people"):
    """Defaults for people who have not set these values themselves."""

    time_zone: TimeZone = ""
    """Time zone of people who set none, and of Talaria itself. Empty means the machine's."""
    language: Language = ""
    """Language of people who set none. Empty means the language of each message."""
