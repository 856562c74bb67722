"""Batches of one request: submit, find again, collect. Raises the SDK's errors.

Source: https://platform.claude.com/docs/en/build-with-claude/batch-processing (2026-11-26). Batches
cost half the price, and have results within 24 hours. A batch can be recognized only by the ids of
its requests.
"""

import json
from typing import Any, cast

from anthropic import AsyncAnthropic

from agent_core.errors import ModelBusy, ModelRejected
from agent_core.models.anthropic.answer import read_message
from agent_core.models.contract import ModelAnswer

_MOST_LISTED = 100
"""The number of newest batches that are searched for a lost one."""
_SKEW = 600_000
"""Milliseconds by which the clocks of this machine and the API may differ."""
_ENDED = "ended"


async def submit(client: AsyncAnthropic, body: bytes, mark: str) -> str:
    """Submit a rendered request; return the id of its batch."""
    params = json.loads(body)
    del params["stream"]
    request = cast(Any, {"custom_id": mark, "params": params})
    return (await client.messages.batches.create(requests=[request])).id


async def find(client: AsyncAnthropic, mark: str, since: int) -> str | None:
    """Find the batch with a request of this mark. Raises `ModelBusy` if one can't be read yet."""
    is_unknown = False
    seen = 0
    async for batch in client.messages.batches.list(limit=_MOST_LISTED):
        seen += 1
        created = round(batch.created_at.timestamp() * 1000)
        if created < since - _SKEW or seen > _MOST_LISTED:
            break
        if batch.processing_status != _ENDED:
            counts = batch.request_counts
            is_unknown = is_unknown or counts.processing + counts.canceled <= 1
        elif batch.results_url and await _find_result(client, batch.id, mark):
            return batch.id
    if is_unknown:
        raise ModelBusy("A batch that is still processed may be the one that was submitted.")
    return None


async def collect(
    client: AsyncAnthropic, model: str, batch_id: str, mark: str
) -> ModelAnswer | None:
    """Return the answer; None if none is there yet. Raises `ModelRejected` if none will be."""
    batch = await client.messages.batches.retrieve(batch_id)
    if batch.processing_status != _ENDED:
        return None
    result = await _find_result(client, batch_id, mark)
    if result is None or result["type"] != "succeeded":
        why = result["type"] if result else "without a result"
        raise ModelRejected(f"The batch {batch_id} is {why}.")
    return read_message(result["message"], model)


async def _find_result(client: AsyncAnthropic, batch_id: str, mark: str) -> dict[str, Any] | None:
    """Return the result of one request in a batch that has ended."""
    found: dict[str, Any] | None = None
    async for one in await client.messages.batches.results(batch_id):
        if one.custom_id == mark:
            found = one.result.to_dict(mode="json")
    return found
