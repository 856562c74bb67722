"""Settings of the tools that act, and of the places where commands run."""

from typing import Literal

from pydantic import Field

from gateway.config.tables import Table
from gateway.config.tool_rules import BackendName, PersonBackends, ToolLimits, ToolRules
from gateway.config.types import HostPatterns, Mounts, PublicAddress, Text, Texts


class PlaceSettings(Table):
    """Settings of all backends in `[tools]`; most names begin with their backend."""

    backends: PersonBackends = ()
    """Backends of single people, jobs and skills, as tables `[[tools.backends]]` with `backend` and
    one of `person` (a folder name of `talaria people list`), `job` (a title) and `skill` (a name,
    for jobs that load it). Everything else uses `tools.backend`.
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
    docker_idle_minutes: int = Field(5, ge=1, le=1440)
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
    daytona_target: Text = ""
    """The region of new sandboxes; empty for the account's default."""
    daytona_network: bool = False
    """Whether commands in Daytona's sandboxes may reach the internet."""
    daytona_idle_minutes: int = Field(5, ge=1, le=1440)
    """Minutes after which Daytona stops an idle sandbox."""
    modal_image: Text = ""
    """The registry image that new sandboxes of the `modal` backend are made from; it needs bash,
    coreutils and python3. Empty for Modal's default image, with Debian.
    """
    modal_region: Text = ""
    """The region of new sandboxes; empty for Modal's choice."""
    modal_network: bool = False
    """Whether commands in Modal's sandboxes may reach the internet."""
    modal_idle_minutes: int = Field(5, ge=1, le=1440)
    """Minutes after which Modal ends an idle sandbox."""


class ToolSettings(PlaceSettings, title="Tools that act"):
    """The place where the assistant runs commands, and the limits of a command."""

    backend: Literal["", BackendName] = ""
    """Where the assistant runs commands and keeps files for a person: `local` is this machine, in a
    sandbox without network; `docker` a container for each person; `ssh` a sandbox on another host;
    `daytona` and `modal` a sandbox at that provider; `unsandboxed` all rights of Talaria's user.
    Empty for no such tools.
    """
    command_seconds: int = Field(300, ge=5, le=3600)
    """Longest time of one command, in seconds."""
    background: int = Field(4, ge=1, le=50)
    """Most commands of one person that run in the background."""
    background_hours: int = Field(24, ge=1, le=720)
    """Longest time of a command in the background, in hours."""
    memory_mb: int = Field(2000, ge=100, le=1_000_000)
    """Most memory of one command with all its processes, in millions of bytes."""
    processes: int = Field(128, ge=8, le=10_000)
    """Most processes of one command at the same time."""
    cpu_minutes: int = Field(240, ge=1, le=43_200)
    """Most processor time of each process of a command, in minutes."""
    file_mb: int = Field(1000, ge=1, le=1_000_000)
    """Largest file that a command may write, in millions of bytes."""
    workspace_mb: int = Field(5000, ge=1, le=10_000_000)
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
    `code`), `most_per_turn`, `must_run_first` or `ends_turn`.
    """
