"""The tables of `config.toml` and the credentials of the environment, as frozen values.

Titles and docstrings of this module become docs/configuration.md and config.example.toml, so they
are written for the people who set a setting. The program does not read them.
"""

from typing import Annotated, Literal

from pydantic import Field

from adapters.toolkit.table import (
    ON_MACHINE,
    ON_PAGE,
    ListenAddress,
    Table,
    Text,
    in_any_case,
)
from agent_core.models.local.servers import USUAL_PORTS
from agent_core.models.router import split_name
from agent_core.state.people.people import LEAST_CAP, MOST_CAP
from gateway.app.setting_types import (
    Accounts,
    BucketAddress,
    Dollars,
    FileNames,
    HostPatterns,
    Hosts,
    Language,
    Mounts,
    OwnAddress,
    Ports,
    Prices,
    PublicAddress,
    ServerAddress,
    Texts,
    TimeZone,
)
from gateway.app.tool_rules import (
    BackendChoice,
    NamedBackends,
    PersonBackends,
    ToolLimits,
    ToolRules,
)
from gateway.media.voices.installed import can_hear, can_speak

YEARS = 36_500
"""The longest retention, in days: a hundred years."""


class AccessSettings(Table, title="Who may talk"):
    """Accounts that need no approval."""

    allow: Accounts = ()
    """Accounts that may talk without approval, as `"platform:user_id"`, for instance
    `"telegram:123456789"`. `"*"` admits everyone who finds the bot, at your cost.
    """
    greet: bool = True
    """Greet the people in `access.allow` when they write for the first time."""


class TurnSettings(Table, title="Limits of one turn", on_page=True):
    """Concurrency, and the limits of one turn."""

    at_once: int = Field(400, ge=1, le=10_000)
    """Most turns that run at the same time."""
    per_person: int = Field(3, ge=1, le=100)
    """Most turns of one person at the same time. Requests over the API leave one for chats."""
    max_steps: int = Field(40, ge=1, le=1000)
    """Most model calls per turn."""
    max_tokens: int = Field(400_000, ge=1000, le=100_000_000)
    """Most tokens per turn, input and output together."""
    max_cost_usd: Dollars = Field(1.0, ge=0, le=10_000)
    """Most US dollars per turn. 0 for no limit."""
    max_seconds: int = Field(900, ge=5, le=86_400)
    """Longest turn, in seconds."""
    drain_seconds: int = Field(15, ge=0, le=600)
    """Seconds that running turns get to finish a step when Talaria stops."""


class MemorySettings(Table, title="Memory", on_page=True):
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
    provider: Annotated[Text, in_any_case("honcho")] = ""
    """An external memory, which receives conversations and memory entries under neutral names:
    `honcho`, or one of a plug-in. Empty for none. `honcho` needs `HONCHO_API_KEY`, or
    `HONCHO_BASE_URL` for a server of your own.
    """
    workspace: Text = "talaria"
    """The workspace of the external memory."""
    provider_tokens: int = Field(400, ge=50, le=4000)
    """Most tokens of the external memory in one turn."""


class RetentionSettings(Table, title="How long data is kept", on_page=True):
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


class JobSettings(Table, title="Jobs", on_page=True):
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
    script_memory_mb: Annotated[int, ON_MACHINE] = Field(2000, ge=50, le=1_000_000)
    """Most memory of a script job with all its processes, in millions of bytes."""
    script_file_mb: Annotated[int, ON_MACHINE] = Field(2000, ge=0, le=10_000_000)
    """Largest file that a script job may write, in millions of bytes."""
    script_processes: Annotated[int, ON_MACHINE] = Field(64, ge=1, le=10_000)
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


class ContextSettings(Table, title="Length of a conversation", on_page=True):
    """Limits of a call's input, in tokens, above which a conversation is compacted."""

    cap_tokens: int = Field(120_000, ge=LEAST_CAP, le=MOST_CAP)
    """Most input tokens of one call. Older messages beyond it are summarised. People may set a
    lower cap with `/settings reading_limit 50000`.
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


class LogSettings(Table, title="Log", on_page=True):
    """Level and destination of the log."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The lowest level that is logged."""
    format: Literal["text", "json"] = "text"
    """Lines of text, or one JSON object per line for programs."""
    file: bool = True
    """Whether the log is also written to `logs/talaria.log`."""


class PeopleSettings(Table, title="Defaults for people", on_page=True):
    """Defaults for people who have not set these values themselves."""

    time_zone: Annotated[TimeZone, ON_PAGE] = ""
    """Time zone of people who set none, and of Talaria itself. Empty means the machine's."""
    language: Annotated[Language, ON_PAGE] = ""
    """Language of people who set none. Empty means the language of each message."""


class LearningSettings(Table, title="Learning", on_page=True):
    """When and how Talaria learns from people's words. Each person chooses with `/learned`."""

    turns: int = Field(10, ge=0, le=80)
    """Answers to a person after which Talaria reviews their words. 0 for never. With `turns` and
    `steps` at 0, there are no reviews.
    """
    steps: int = Field(10, ge=0, le=1000)
    """Tool calls for a person after which Talaria reviews their words. 0 for never."""
    conclusions: bool = True
    """After a review that kept something, the cheap model also draws guesses from what is
    remembered. With `memory.provider`, the external memory does this instead.
    """
    batch: bool = False
    """Send reviews to Anthropic's batch API, which costs half and answers within a day. Other
    providers are called directly.
    """
    proposals: bool = True
    """Every week, the cheap model looks for skills and notes that repeat or contradict each other.
    It only proposes changes, and each person decides.
    """


class SkillSettings(Table, title="Skills", on_page=True):
    """The list of skills, and the days without use after which a skill is stale or archived."""

    stale_days: int = Field(30, ge=0, le=YEARS)
    """Days without use after which a skill that the assistant wrote counts as stale. 0 for never.
    """
    archive_days: int = Field(90, ge=0, le=YEARS)
    """Days without use after which a skill that the assistant wrote is archived, unless it is
    pinned or a job needs it. `talaria skills restore` brings it back. 0 for never.
    """
    prompt_tokens: int = Field(350, ge=0, le=100_000)
    """Tokens that the list of skills may take in a prompt. If there are more skills, the list has
    the most used ones, and each message names other skills that fit it.
    """
    folders: Texts = ()
    """Further folders whose subfolders are skills, with full paths. Nothing in them is changed.
    Enabled plug-ins add theirs.
    """
    hubs: Texts = ()
    """Places that have skills by name, as `NAME=ADDRESS`, for `talaria skills install NAME`. An
    address is a folder, or a Git repository with skills or an `index.json`.
    """


class MediaSettings(Table, title="Attachments", on_page=True):
    """Sizes of attachments, voice notes, and spoken answers. MB are a million bytes."""

    transcription: Literal["", "auto", "local", "openai", "command"] = "auto"
    """How voice notes are transcribed: `local` (Whisper of the extra `voice`, on this machine),
    `openai` (a compatible server at `OPENAI_BASE_URL`), `command` (a program of yours), or empty
    for not at all. `auto` is `local` where the extra is installed.
    """
    transcription_model: Annotated[Text, ON_PAGE] = "whisper-1"
    """The transcription model that the server uses."""
    transcription_command: Texts = ()
    """The program and its arguments, run without a shell. `{file}` stands for the recording, for
    instance `["whisper-cli", "--no-prints", "{file}"]`.
    """
    transcription_seconds: int = Field(60, ge=1, le=3600)
    """Longest time for one recording, in seconds."""
    speech: Literal["", "auto", "local", "command"] = "auto"
    """How answers are spoken to the people who want it: `local` (the voices of the extra `voice`,
    on this machine), `command` (a program of yours), or empty for not at all. `auto` is the program
    where `speech_command` names one, else `local` where the extra is installed.
    """
    speech_command: Texts = ()
    """The program that speaks answers, and its arguments, run without a shell. It reads text on
    standard input and writes audio to standard output. `{language}` stands for the person's
    language, for instance `["espeak-ng", "-v", "{language}", "--stdin", "--stdout"]`. People turn
    it on with `/settings spoken_answers always`.
    """
    speech_seconds: int = Field(60, ge=1, le=240)
    """Longest time for one spoken answer, in seconds."""
    command_network: Annotated[bool, ON_MACHINE] = False
    """Whether these two programs may use the network, as `curl` has to."""
    command_memory_mb: Annotated[int, ON_MACHINE] = Field(4000, ge=50, le=1_000_000)
    """Most memory of one of these programs with all its processes, in millions of bytes."""
    image_mb: float = Field(3.9, ge=0.1, le=7.8)
    """Largest picture, in millions of bytes. Some providers accept no more than 3.9."""
    file_mb: float = Field(10.0, ge=0.1, le=50)
    """Largest other file, in millions of bytes."""
    document_characters: int = Field(60_000, ge=1000, le=400_000)
    """Most characters read of one document or recording."""

    @property
    def hearing(self) -> Literal["", "local", "openai", "command"]:
        """Return the way in which voice notes are transcribed; empty if they are not."""
        if self.transcription == "auto":
            return "local" if can_hear() else ""
        return self.transcription

    @property
    def speaking(self) -> Literal["", "local", "command"]:
        """Return the way in which answers are spoken; empty if they are not."""
        if self.speech == "auto":
            return "command" if self.speech_command else "local" if can_speak() else ""
        return self.speech


class ImageSettings(Table, title="Pictures made by a model", on_page=True):
    """The model that makes pictures when people ask for one, at `OPENAI_BASE_URL` or OpenAI."""

    model: Annotated[Text, ON_PAGE] = ""
    """The model, as the server spells it, for instance `gpt-image-2.5-flare`. Empty means that no
    pictures are made.
    """
    price_usd: float = Field(0.0, ge=0, le=100)
    """The price of one picture in US dollars. People see it, and it counts in the limits of
    `[cost]`. 0 is for a server of your own.
    """
    most_per_day: int = Field(10, ge=1, le=10_000)
    """Most pictures for one person in a day."""
    size: Annotated[Text, ON_PAGE] = "1024x1024"
    """Width and height in pixels, as the model takes them. Empty leaves it to the model."""
    quality: Annotated[Text, ON_PAGE] = ""
    """The quality, for instance `low`, `medium` or `high`. Empty leaves it to the model."""
    seconds: int = Field(180, ge=5, le=900)
    """Longest time for one picture, in seconds."""


class ModelSettings(Table, title="The model that answers", on_page=True):
    """The models and their providers. After `load`, `provider`, `name` and `cheap` are resolved."""

    provider: Annotated[Text, in_any_case("auto", "anthropic", "openai", "scripted"), ON_PAGE] = (
        "auto"
    )
    """The provider of every model whose name does not begin with one: `anthropic`, `openai`,
    `scripted`, or one of a plug-in. `auto` picks by the key that is set: Anthropic first, then
    OpenAI, then the scripted stand-in.
    """
    name: Annotated[Text, ON_PAGE] = ""
    """The model, as the provider spells it. A name may start with its provider, as in
    `anthropic:claude-sonnet-5-5` or `openai:gpt-5-mini`. Empty means `claude-sonnet-5-5`,
    `gpt-5-mini` or the stand-in.
    """
    fallbacks: Annotated[Texts, ON_PAGE] = ()
    """Models that answer while the first model can't, in this order. They may have other providers.
    """
    choices: Annotated[Texts, ON_PAGE] = ()
    """Further models that people may choose with `/model`, for themselves and for their jobs."""
    find_local: bool = True
    """Look for a model server on this machine (Ollama, LM Studio, llama.cpp, vLLM) if no key and no
    provider is set, and use it; see [Without an account](without-an-account.md).
    """
    local_ports: Ports = tuple(map(str, USUAL_PORTS))
    """The ports of this machine where one is looked for. With the default, it is also found at any
    port where a program listens that is known to serve models, such as `llama-server` (Linux).
    """
    local_at_once: int = Field(1, ge=1, le=64)
    """Requests at once to a model server of this machine, at `localhost`. More only if it keeps
    what different people say apart, and has memory for all of them.
    """
    runs_here: Annotated[bool, ON_MACHINE] = True
    """The models of a server at `localhost` run on this machine. Set it to false for a proxy that
    passes requests on to a vendor, such as LiteLLM's: it needs no patience, no order of requests
    and no fitness test.
    """
    mode: Literal["auto", "tools", "guided"] = "auto"
    """How models work: they call `tools`, or take `guided` decisions, for small models that call
    tools badly. `auto` follows what is known of each model, or else the size in its name; see
    [Models and cost](models-and-cost.md#guided-mode).
    """
    cheap: Annotated[Text, ON_PAGE] = ""
    """The model for background work. Empty means `claude-haiku-5-5`, or the same as `name`."""
    max_output_tokens: int = Field(8000, ge=256, le=128_000)
    """Longest answer of one call, in tokens."""
    timeout: float = Field(120.0, ge=1, le=3600)
    """Seconds without any data after which a call fails. A model server of this machine gets 600
    unless this is set.
    """
    patience: int = Field(1800, ge=0, le=86_400)
    """Seconds that a message in a chat waits if no model answers."""
    job_patience: int = Field(86_400, ge=0, le=604_800)
    """Seconds that a job waits if no model answers."""
    cache_ttl: Literal["5m", "1h"] = "5m"
    """How long the provider keeps the cached prompt. `1h` costs more to write."""

    @property
    def named(self) -> tuple[str, ...]:
        """The names of all configured models, beginning with the main model."""
        return tuple(dict.fromkeys((self.name, *self.fallbacks, *self.choices, self.cheap)))

    @property
    def providers(self) -> tuple[str, ...]:
        """The providers of the configured models."""
        found = (split_name(name)[0] or self.provider for name in self.named)
        return tuple(dict.fromkeys((self.provider, *found)))


class CostSettings(Table, title="Daily limits and prices", on_page=True):
    """Daily quotas. Limits in dollars count calls to models with a price; limits in tokens count
    calls to other models.
    """

    person_day_usd: Dollars = Field(5.0, ge=0, le=100_000)
    """Most US dollars per person and day. 0 for no limit."""
    person_day_tokens: int = Field(5_000_000, ge=0, le=1_000_000_000)
    """Most tokens per person and day, for models without a price. 0 for no limit."""
    house_day_usd: Dollars = Field(50.0, ge=0, le=1_000_000)
    """Most US dollars of everyone together per day. 0 for no limit."""
    house_day_tokens: int = Field(50_000_000, ge=0, le=1_000_000_000)
    """Most tokens of everyone together per day, for models without a price. 0 for no limit."""
    cheap_from_percent: int = Field(80, ge=1, le=100)
    """Percent of a daily limit from which the cheap model answers and background work stops."""
    prices: Annotated[Prices, ON_PAGE] = ()
    """Prices of models, in US dollars per million tokens, with the date of the look-up: `gpt-5-mini
    in=0.25 out=2.00 cached=0.025 date=2026-11-01`.
    """


class PlaceSettings(Table):
    """Settings of all backends in `[tools]`; most names begin with their backend."""

    backends: PersonBackends = ()
    """Backends of single people, jobs and skills, as tables `[[tools.backends]]` with `backend` and
    one of `person` (a folder name of `talaria people list`), `job` (a title) and `skill` (a name,
    for its scripts and for jobs that load it). Everything else uses `tools.backend`.
    """
    named_backends: NamedBackends = ()
    """Backends with names of your own, as tables `[[tools.named_backends]]` with `name`, `kind` (a
    value of `tools.backend`) and what differs from the settings here: those that begin with the
    kind, without this beginning (`image`, `gpu`, `cpus`), the limits of a command
    (`command_seconds`, `memory_mb`), and `usd_per_hour`. The name then stands where a kind can.
    `people` (folder names, or `*`) are those whose skills may name it in their own file.
    """
    network_people: Texts = ()
    """People whose commands may reach `network_hosts`, by their folder names from `talaria people
    list`; `"*"` is everyone. Only for the `local` backend.
    """
    network_hosts: HostPatterns = ()
    """Hosts that these commands may reach, through a proxy: `"example.org"`, `"*.example.org"` for
    all hosts below it, or `"*"`. Without a port, ports 80 and 443 are allowed. A host of the local
    network also has to be in `digest.allow_hosts`.
    """
    docker_program: Literal["", "docker", "podman"] = ""
    """The client of the container engine; empty for docker if it is installed, else podman."""
    docker_image: Text = ""
    """The image of the containers; it needs bash and coreutils."""
    docker_network: Text = "none"
    """The engine's network for containers; `none` for no network."""
    docker_mounts: Mounts = ()
    """Folders of this machine that every container sees: `/srv/data:/data` read-only,
    `/srv/data:/data:rw` writable. None of them may hold Talaria's own files.
    """
    docker_cpus: float = Field(1.0, ge=0.1, le=256)
    """Processors that one container may use."""
    docker_gpu: Text = ""
    """Graphics cards that a container sees, as `docker run --gpus` takes them: `all`, a number, or
    `device=0,1`. Empty for none.
    """
    docker_idle_minutes: Annotated[int, ON_PAGE] = Field(5, ge=1, le=1440)
    """Minutes after which an idle container is paused."""
    ssh_host: Text = ""
    """The host of the `ssh` backend; it needs bash and bubblewrap."""
    ssh_user: Text = ""
    """The account on that host; empty for ssh's default."""
    ssh_port: int = Field(22, ge=1, le=65_535)
    """The port of its SSH server."""
    ssh_key: Text = ""
    """The file of the private key, which must have no password; empty for the ssh agent."""
    ssh_known_hosts: Text = ""
    """The known-hosts file; empty for ssh's own files. Talaria refuses an unknown host."""
    ssh_root: Text = "talaria-workspaces"
    """The folder of the workspaces on that host: absolute, or relative to the account's home."""
    daytona_snapshot: Text = ""
    """The snapshot that new sandboxes of the `daytona` backend are made from; it needs bash,
    coreutils and python3. Empty for Daytona's default.
    """
    daytona_image: Text = ""
    """The registry image of new sandboxes, instead of a snapshot; it needs bash, coreutils and
    python3. Only sandboxes of an image can have a size of their own.
    """
    daytona_cpus: int = Field(0, ge=0, le=256)
    """Virtual processors of a new sandbox; 0 for Daytona's default."""
    daytona_gpu: int = Field(0, ge=0, le=16)
    """Graphics cards of a new sandbox."""
    daytona_memory_mb: Annotated[int, ON_PAGE] = Field(0, ge=0, le=1_000_000)
    """Memory of a new sandbox, in millions of bytes; Daytona counts in whole GiB, rounded up. 0 for
    its default.
    """
    daytona_target: Text = ""
    """The region of new sandboxes; empty for the account's default."""
    daytona_network: bool = False
    """Whether commands in Daytona's sandboxes may reach the internet."""
    daytona_idle_minutes: Annotated[int, ON_PAGE] = Field(5, ge=1, le=1440)
    """Minutes after which Daytona stops an idle sandbox."""
    modal_image: Text = ""
    """The registry image that new sandboxes of the `modal` backend are made from; it needs bash,
    coreutils and python3. Empty for Modal's default image, with Debian.
    """
    modal_cpus: float = Field(0.0, ge=0, le=256)
    """Processor cores that Modal keeps free for a sandbox; 0 for Modal's default."""
    modal_gpu: Text = ""
    """The graphics card of a sandbox, in Modal's words: `T4`, `A100-80GB:2`. Empty for none."""
    modal_memory_mb: Annotated[int, ON_PAGE] = Field(0, ge=0, le=1_000_000)
    """Memory that Modal keeps free for a sandbox, in millions of bytes; 0 for Modal's default."""
    modal_secrets: Texts = ()
    """Names of secrets of your Modal account. Every command gets their variables, and Talaria can't
    mask their values in outputs.
    """
    modal_region: Text = ""
    """The region of new sandboxes; empty for Modal's choice."""
    modal_network: bool = False
    """Whether commands in Modal's sandboxes may reach the internet."""
    modal_idle_minutes: Annotated[int, ON_PAGE] = Field(5, ge=1, le=1440)
    """Minutes after which Modal ends an idle sandbox."""


class ToolSettings(PlaceSettings, title="Tools that act"):
    """The place where the assistant runs commands, and the limits of a command."""

    backend: BackendChoice = ""
    """Where the assistant runs commands and keeps files for a person: `local` is this machine, in a
    sandbox without network; `docker` a container for each person; `ssh` a sandbox on another host;
    `daytona` and `modal` a sandbox at that provider; `unsandboxed` all rights of Talaria's user.
    A name of `tools.named_backends` also works. Empty for no such tools.
    """
    command_seconds: int = Field(300, ge=5, le=3600)
    """Longest time of one command, in seconds."""
    background: Annotated[int, ON_PAGE] = Field(4, ge=1, le=50)
    """Most commands of one person that run in the background."""
    background_hours: Annotated[int, ON_PAGE] = Field(24, ge=1, le=720)
    """Longest time of a command in the background, in hours."""
    memory_mb: Annotated[int, ON_PAGE] = Field(2000, ge=100, le=1_000_000)
    """Most memory of one command with all its processes, in millions of bytes."""
    processes: Annotated[int, ON_PAGE] = Field(128, ge=8, le=10_000)
    """Most processes of one command at the same time."""
    cpu_minutes: Annotated[int, ON_PAGE] = Field(240, ge=1, le=43_200)
    """Most processor time of each process of a command, in minutes."""
    file_mb: Annotated[int, ON_PAGE] = Field(1000, ge=1, le=1_000_000)
    """Largest file that a command may write, in millions of bytes."""
    workspace_mb: Annotated[int, ON_PAGE] = Field(5000, ge=1, le=10_000_000)
    """Most that one person's workspace may hold, in millions of bytes."""
    search: Literal["", "ddgs", "searxng", "brave", "tavily"] = "ddgs"
    """Where the assistant searches the web. `ddgs` asks public engines and needs no key. `searxng`
    needs `tools.searxng_url`, `brave` needs `BRAVE_API_KEY`, and `tavily` needs `TAVILY_API_KEY`.
    Empty for no search.
    """
    searxng_url: PublicAddress = ""
    """The address of your SearXNG server. Its settings have to allow JSON."""
    rules: ToolRules = ()
    """What tools may do, as tables `[[tools.rules]]` with `effect` (`allow`, `ask` or `deny`),
    `tool` and `pattern` (globs on the tool's name and on what it acts on) and `person` (an account,
    or `*`). The first that fits decides.
    """
    disabled: Texts = ()
    """Names of tools that are off for everyone."""
    limits: ToolLimits = ()
    """Tables `[[tools.limits]]`: `tool`, with `callers` (of `direct`, `group`, `job`, `helper`,
    `code`), `most_per_turn`, `must_run_first`, `then_only`, `only_after`, `must_run_before_end` or
    `ends_turn`; with `person` (a folder name) or `agent` only for these.
    """


class BackupSettings(Table, title="Backups"):
    """Content, place and encryption of backups. `jobs.backups` says how many are kept."""

    recipients: Texts = ()
    """Public keys that can open backups, of age (`age1...`) or SSH. Without one, and without
    `BACKUP_PASSPHRASE`, backups are not encrypted.
    """
    folder: Text = ""
    """A folder for the backups, for instance on another disk; empty for `backups/`."""
    s3: BucketAddress = ""
    """A bucket to put the backups into instead, such as `s3://bucket/prefix`. It needs
    `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and the extra `backup`.
    """
    s3_endpoint: PublicAddress = ""
    """The address of an S3-compatible server; empty for Amazon's."""
    s3_region: Text = "us-east-1"
    """The region of the bucket."""
    command: Texts = ()
    """A program, with its arguments, that receives each backup on standard input instead, such as
    `["rclone", "rcat", "box:talaria/{name}"]`. The program has to delete old backups itself.
    """
    secrets: bool = False
    """Put keys and tokens into unencrypted backups, too: `.env`, `secrets.toml`, `http_token` and
    `mcp_tokens/`. Encrypted backups always contain them.
    """
    workspaces: Annotated[bool, ON_PAGE] = True
    """Put the files of `workspaces/` into backups. There may be many of them."""


class AlertSettings(Table, title="Alerts", on_page=True):
    """Silent messages that tell owners what they have to repair, and when the problem is over."""

    enabled: bool = True
    """Tell the owners in their direct chats when a platform is down, a key is refused, a backup
    fails, or money or space runs out.
    """
    pause_minutes: int = Field(15, ge=0, le=1440)
    """Shortest pause between two of these messages, in minutes. The next message also reports what
    happened during the pause.
    """


class SessionLogSettings(Table, title="Session log", on_page=True):
    """Files with every turn, for other programs: `sessions/people/<name>/<session>.jsonl`."""

    enabled: bool = False
    """Write each ended turn as one line of JSON to the file of its session."""
    megabytes: int = Field(10, ge=1, le=100)
    """Size at which a session begins a new file, in megabytes."""
    kept_files: int = Field(5, ge=0, le=1000)
    """Full files that each session keeps; older ones are deleted."""


class WebhookSettings(Table, title="Outgoing webhooks"):
    """Signed requests that tell other programs of people's events; see `talaria webhooks`."""

    allow_hosts: Hosts = ()
    """Hosts, each with or without a port, that webhooks may reach even in the local network or
    without https.
    """
    per_person: Annotated[int, ON_PAGE] = Field(10, ge=0, le=1000)
    """Most webhooks per person."""


class TelemetrySettings(Table, title="Telemetry"):
    """Traces and metrics for OpenTelemetry."""

    endpoint: PublicAddress = ""
    """The address of a receiver of OTLP over HTTP, such as `http://127.0.0.1:4318`; empty for none.
    It needs the extra `otel`.
    """
