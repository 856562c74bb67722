"""The models, tools and skills that jobs may use."""

from collections.abc import Iterator
from functools import partial

from agent_core.errors import SkillBroken, SkillMissing
from agent_core.schedule.job_editor import JobRules
from agent_core.schedule.resources import JobResources
from agent_core.skills.catalog import SkillCatalog
from agent_core.tools.selection.built_in import BUILT_IN, is_in_rooms
from gateway.app.named_backends import list_used
from gateway.app.settings import Settings


def make_rules(settings: Settings) -> JobRules:
    """Return the limits and resources of jobs."""
    jobs = settings.jobs
    return JobRules(
        per_person=jobs.per_person,
        least_minutes=jobs.least_minutes,
        pause_after=jobs.pause_after,
        means=_make_means(settings),
    )


def _make_means(settings: Settings) -> JobResources:
    missing = set(_list_missing(settings))
    tools = tuple(name for name in BUILT_IN if name not in missing)
    return JobResources(
        models=settings.model.named,
        tools=tools,
        room_tools=tuple(filter(is_in_rooms, tools)),
        fault_of_skill=partial(_find_fault, SkillCatalog(*settings.skill_places)),
        is_priced=lambda name: not find_unpriced(settings, name),
    )


def _list_missing(settings: Settings) -> Iterator[str]:
    """List the built-in tools that no job can name, because of the settings or by their nature."""
    yield "delegate_task"  # A job that names its tools has no helpers, whose tools it can't name.
    if settings.memory.provider != "honcho":
        yield "ask_memory"
    if not settings.tools.search:
        yield "web_search"
    if not settings.images.model:
        yield "image_generate"
    if not list_used(settings.tools):
        yield from (name for name, offer in BUILT_IN.items() if offer.needs_backend)


def find_unpriced(settings: Settings, name: str) -> str:
    """Return the first model without a price among those that may answer for a job, or "".

    `name` is the job's model; if it is "" or no longer configured, the default one answers.
    """
    model = settings.model
    first = name if name and name in model.named else model.name
    used = (first, *model.fallbacks, model.cheap)
    return next((one for one in used if one and not settings.prices.is_known(one)), "")


def _find_fault(place: SkillCatalog, name: str) -> str:
    try:
        place.load(name)
    except (SkillMissing, SkillBroken) as error:
        return str(error)
    return ""
