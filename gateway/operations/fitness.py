"""Operations of the fitness test: do its next task, and trust a model without it."""

from collections.abc import Mapping
from contextlib import aclosing
from functools import partial

from agent_core.errors import ModelError, ModelInterrupted
from agent_core.fitness.run import EVERY_TASK, RUN, FitnessRun, find_run, go_on
from agent_core.models.catalog import bill
from agent_core.models.contract import HasProfiles, ModelAnswer, ModelRequest
from agent_core.models.local.identity import find_identity
from agent_core.models.profiles import CARD, MODE, ModelProfile
from agent_core.state.conversations import usage
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from gateway.background.model_trust import TRUSTED
from gateway.errors import Declined
from gateway.operations.contract import CalledModel, Operation, OperationContext
from gateway.operations.fitness_types import StepTest, TestedTask, TrustModel
from gateway.operations.model_types import KnownModels, ListModels
from gateway.operations.models import describe_profiles, list_facts
from gateway.operations.wire import typed

PURPOSE = "fitness"
"""The purpose of the model calls in `usage`."""


async def step(context: OperationContext, asked: StepTest) -> TestedTask:
    """Do the next task of a test, and keep its result; the last one also keeps the card.

    Raises `Declined` if the model can't be asked now; the test goes on with the next step.
    """
    profiles = await context.open_profiles()
    async with context.call_models(profiles) as called:
        name = asked.name or called.name
        profile = _find_profile(called, name)
        run = find_run(profile)
        if run is None:
            if not asked.begins:
                raise Declined(f"No test of {name} is under way.")
            run = FitnessRun(identity=await find_identity(profile.server, profile.model))
        task = run.next_task
        if task:
            try:
                run = await go_on(run, task, name, partial(_ask, context, called))
            except (ModelError, TimeoutError) as error:
                said = str(error) or f"{name} does not load."
                raise Declined(f"{said} Run the test again to go on.") from error
        keys = (profile.server, profile.model)
        is_over = run.next_task is None
        if is_over:
            card = run.close()
            facts = {CARD: card.dump(), MODE: card.mode, RUN: None}
        else:
            facts = {RUN: run.dump()}
        await profiles.learn(*keys, facts, source="fitness")
        last = run.results[-1] if run.results else None
        known = profiles.find(*keys)
        return TestedTask(
            model=profile.model,
            server=profile.server,
            task=last.task if last else "",
            fault=last.fault if last else "",
            done=len(run.results),
            total=len(EVERY_TASK),
            facts=tuple(one for one in list_facts(known) if is_over and one.kind in (CARD, MODE)),
        )


async def find_changed(context: OperationContext, asked: ListModels) -> KnownModels:
    """List the models whose card is of other files than their server has now."""
    del asked
    profiles = await context.open_profiles()
    changed = []
    for profile in profiles.list_known():
        tested = (profile.card or {}).get("identity")
        if tested and await find_identity(profile.server, profile.model) not in ("", tested):
            changed.append(profile)
    return describe_profiles(changed)


async def trust(context: OperationContext, asked: TrustModel) -> KnownModels:
    """Note an owner's yes, and return what is known of the model now. Raises `Declined`."""
    profiles = await context.open_profiles()
    async with context.call_models(profiles) as called:
        profile = _find_profile(called, asked.name)
    keys = (profile.server, profile.model)
    await profiles.learn(*keys, {TRUSTED: True}, source="owner")
    return describe_profiles([profiles.find(*keys)])


def _find_profile(called: CalledModel, name: str) -> ModelProfile:
    """Return what is known of a model. Raises `Declined` for the stand-in and unknown providers."""
    model = called.model
    try:
        profile = model.profile(name) if isinstance(model, HasProfiles) else None
    except KeyError as error:
        raise Declined(f"No configured model is of the provider of {name}.") from error
    if profile is None or not profile.server:
        raise Declined(f"{name} can't be tested: nothing can be stored about it.")
    return profile


async def _ask(
    context: OperationContext, called: CalledModel, request: ModelRequest
) -> ModelAnswer:
    """Make a call that `/usage` shows an owner. Raises `ModelError` and `StoreError`."""
    answer = None
    async with aclosing(called.model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, ModelAnswer):
                answer = piece
    if answer is None:
        raise ModelInterrupted("the stream ended before the answer did")
    spent = bill(called.price(answer), PURPOSE)

    def work(connection: Connection) -> None:
        if owner := people.find_owner(connection):
            usage.insert(connection, spent, person_id=owner.id, turn_id=None, now=context.now())

    await context.database.write("fitness.answer", work)
    return answer


OPERATIONS: Mapping[str, Operation] = {
    "fitness.step": typed(step),
    "fitness.changed": typed(find_changed),
    "fitness.trust": typed(trust),
}
"""The operations, by their names on the control socket."""
