"""The tables of `config.toml` about skills, and about learning from finished turns."""

from pydantic import Field

from gateway.config.tables import YEARS, Table
from gateway.config.types import Texts


class LearningSettings(Table, title="Learning"):
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


class SkillSettings(Table, title="Skills"):
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
