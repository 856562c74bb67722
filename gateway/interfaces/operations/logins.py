"""Operations on the logins of browsers to the console page: list them, and end all of them."""

from collections.abc import Mapping

from agent_core.state.people import browser_logins
from gateway.interfaces.operations.contract import Answer, Operation, OperationContext


async def list_logins(context: OperationContext, _: Answer) -> Answer:
    """List the open logins, with their times in milliseconds UTC."""
    now = context.now()
    found = await context.database.read(lambda c: browser_logins.list_open(c, now=now))
    return {
        "logins": [{"created_at": one.created_at, "expires_at": one.expires_at} for one in found]
    }


async def end_logins(context: OperationContext, _: Answer) -> Answer:
    """End every login; open pages close within seconds."""
    return {"ended": await context.database.write("logins.end_all", browser_logins.delete_all)}


LOGIN_OPERATIONS: Mapping[str, Operation] = {
    "logins.list": list_logins,
    "logins.end": end_logins,
}
