"""A model behind a chat-completions endpoint of this machine, without an SDK.

`verifiers` needs the SDK of OpenAI in version 2, and our provider version 3. Its endpoint is on
loopback and repeats what fails, so that a request and its stream are all there is to do.
"""

import json
from collections.abc import AsyncGenerator

import aiohttp

from agent_core.errors import ModelBusy, ModelInterrupted, ModelRejected, ModelUnreachable
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.models.openai.answer import AnswerReader
from agent_core.models.openai.translate import Dialect, render_request

_PREFIX, _END = b"data:", b"[DONE]"
_BUSY = (408, 409, 429)
_SHOWN = 300
_LONGEST_LINE = 16_000_000
_TIMEOUT = aiohttp.ClientTimeout(total=None, connect=10.0, sock_read=600.0)


class ChatModel:
    """A `Model` of one endpoint. Close it in the end."""

    provider = "openai"

    def __init__(self, address: str, key: str) -> None:
        """`address` ends in `/v1`."""
        self._address = f"{address}/chat/completions"
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            timeout=_TIMEOUT,
            read_bufsize=_LONGEST_LINE,
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Make the call; see the contract."""
        body = render_request(request, dialect=Dialect(limit="max_tokens", id_form="any"))
        reader = AnswerReader(request, begins_in_thought=False)
        try:
            async with self._session.post(self._address, data=body) as response:
                if not response.ok:
                    said = (await response.text())[:_SHOWN]
                    is_busy = response.status in _BUSY or response.status >= 500
                    raise (ModelBusy if is_busy else ModelRejected)(f"{response.status}: {said}")
                async for line in response.content:
                    data = line.removeprefix(_PREFIX).strip()
                    if not line.startswith(_PREFIX) or data == _END:
                        continue
                    if text := reader.read(json.loads(data)):
                        yield TextDelta(text=text)
        except (TimeoutError, aiohttp.ClientError, ValueError) as error:
            kind = ModelInterrupted if reader.has_begun else ModelUnreachable
            raise kind(f"The endpoint broke off ({type(error).__name__}: {error}).") from error
        reader.has_ended = True
        if rest := reader.end(is_broken=False):
            yield TextDelta(text=rest)
        yield reader.finish()

    async def check(self, model: str) -> None:
        """Accept every model."""

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()
