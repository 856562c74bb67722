"""Settings of the places where commands run: here, on another machine, or at a provider."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.config.tool_rules import PersonBackends
from gateway.config.types import HostPatterns, Mounts, Text, Texts


class PlaceSettings(BaseModel):
    """The settings of every backend, each with its name in front; in `[tools]`."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    backends: PersonBackends = Field(
        (),
        description="Backends of single people, jobs and skills, as tables `[[tools.backends]]`"
        " with `backend` and one of `person` (a folder name of `talaria people list`), `job` (a"
        " title) and `skill` (a name, for jobs that load it). Everything else has `tools.backend`.",
    )
    network_people: Texts = Field(
        (),
        description="People whose commands may reach `network_hosts`, by their folder names from"
        ' `talaria people list`; `"*"` is everyone. Only for the `local` backend.',
    )
    network_hosts: HostPatterns = Field(
        (),
        description='Hosts that these commands may reach, by a proxy: `"example.org"`,'
        ' `"*.example.org"` for all below it, or `"*"`; at ports 80 and 443, or at the one that is'
        " named. Hosts of the local network also have to be in `digest.allow_hosts`.",
    )
    docker_program: Literal["", "docker", "podman"] = Field(
        "", description="The client of the engine; empty for docker if it is installed, or podman."
    )
    docker_image: Text = Field(
        "", description="The image of the containers; it needs bash and coreutils."
    )
    docker_network: Text = Field(
        "none", description="The engine's network that containers are in; `none` for no network."
    )
    docker_mounts: Mounts = Field(
        (),
        description="Folders of this machine that every container sees: `/srv/data:/data` for"
        " reading, `/srv/data:/data:rw` for writing, too. None may hold Talaria's own files.",
    )
    docker_cpus: float = Field(
        1.0, ge=0.1, le=256, description="Processors that a container may use."
    )
    docker_idle_minutes: int = Field(
        5, ge=1, le=1440, description="Minutes after which an idle container is paused."
    )
    ssh_host: Text = Field(
        "", description="The machine of the `ssh` backend; it needs bash and bubblewrap."
    )
    ssh_user: Text = Field("", description="The account there; empty for ssh's own choice.")
    ssh_port: int = Field(22, ge=1, le=65_535, description="The port of its server.")
    ssh_key: Text = Field(
        "", description="The file of the private key, without a password; empty for the agent."
    )
    ssh_known_hosts: Text = Field(
        "",
        description="The file with the machine's own key; empty for ssh's files. An unknown machine"
        " is refused.",
    )
    ssh_root: Text = Field(
        "talaria-workspaces",
        description="The folder of the workspaces there, below the account's home or absolute.",
    )
    daytona_snapshot: Text = Field(
        "",
        description="What new sandboxes of the `daytona` backend are made from; it needs bash,"
        " coreutils and python3. Empty for Daytona's own.",
    )
    daytona_target: Text = Field(
        "", description="The region of new sandboxes; empty for that of the account."
    )
    daytona_network: bool = Field(
        False, description="Whether commands in Daytona's sandboxes may reach the internet."
    )
    daytona_idle_minutes: int = Field(
        5, ge=1, le=1440, description="Minutes after which an idle sandbox at Daytona is stopped."
    )
    modal_image: Text = Field(
        "",
        description="The image in a registry that new sandboxes of the `modal` backend are made"
        " from; it needs bash, coreutils and python3. Empty for Modal's own, with Debian.",
    )
    modal_region: Text = Field(
        "", description="The region of new sandboxes; empty for Modal's own choice."
    )
    modal_network: bool = Field(
        False, description="Whether commands in Modal's sandboxes may reach the internet."
    )
    modal_idle_minutes: int = Field(
        5, ge=1, le=1440, description="Minutes after which an idle sandbox at Modal is ended."
    )
