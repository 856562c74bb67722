"""Operations on what is known of models: list it, and forget it."""

from collections.abc import Iterable, Mapping

from agent_core.models.profiles import ModelProfile
from agent_core.models.router import split_name
from gateway.errors import Declined, suggest
from gateway.operations.contract import Operation, OperationContext
from gateway.operations.model_types import (
    KnownFact,
    KnownModel,
    KnownModels,
    ListModels,
    PickModel,
)
from gateway.operations.wire import typed


async def list_known(context: OperationContext, asked: ListModels) -> KnownModels:
    """List everything that is known of models now."""
    del asked
    profiles = await context.open_profiles()
    return describe_profiles(profiles.list_known())


async def forget(context: OperationContext, asked: PickModel) -> KnownModels:
    """Forget a model at every server, and return what was known. Raises `Declined`."""
    profiles = await context.open_profiles()
    known = profiles.list_known()
    wanted = {asked.name, split_name(asked.name)[1]}
    found = [profile for profile in known if profile.model in wanted]
    if not found:
        names = {profile.model for profile in known}
        near = f"; {suggest(asked.name, names)}" if names else "."
        raise Declined(f"Nothing is known of a model {asked.name}{near}")
    for profile in found:
        await profiles.forget(profile)
    return describe_profiles(found)


def describe_profiles(profiles: Iterable[ModelProfile]) -> KnownModels:
    """Return what is known of models as an answer."""
    return KnownModels(
        models=tuple(
            KnownModel(server=one.server, model=one.model, facts=list_facts(one))
            for one in profiles
        )
    )


def list_facts(profile: ModelProfile) -> tuple[KnownFact, ...]:
    """List what is known of a model as a part of an answer."""
    return tuple(
        KnownFact(kind=fact.kind, value=fact.value, source=fact.source, at=fact.learned_at)
        for fact in profile.facts.values()
    )


OPERATIONS: Mapping[str, Operation] = {
    "models.known": typed(list_known),
    "models.forget": typed(forget),
}
"""The operations, by their names on the control socket."""
