"""The services of operations in a running gateway."""

from gateway.bootstrap.factories import make_prompt_cache
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.operations.contract import (
    OperationContext,
    scheduling_context,
    webhook_rules,
)


def open_context(gateway: Gateway, *, actor: str = "house") -> OperationContext:
    """Return the services of an operation; `actor` is who did what it changes."""
    return OperationContext(
        database=gateway.database,
        now=gateway.now,
        enqueue=gateway.dispatcher.enqueue,
        forget_known=gateway.router.forget_known,
        exports=gateway.exports,
        erasing=gateway.data_requests.erasing,
        memory=gateway.memory.store,
        skills=gateway.scheduling.skills,
        prompt_cache=make_prompt_cache(gateway.settings, gateway.database, gateway.memory),
        scheduling=scheduling_context(
            gateway.settings,
            calendars=gateway.scheduling.calendars,
            wake=gateway.scheduling.wake,
            load_platforms=lambda: gateway.platforms.adapters,
        ),
        webhooks=webhook_rules(gateway.settings),
        wake_webhooks=gateway.webhooks.wake,
        actor=actor,
    )
