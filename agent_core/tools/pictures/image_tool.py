"""The `image_generate` tool: has a picture made by a model, and sends it with the answer."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_core.errors import QuotaExceeded
from agent_core.ids import PersonId
from agent_core.localization import Text
from agent_core.state.conversations import usage
from agent_core.state.conversations.usage import ModelCall
from agent_core.state.engine.database import Connection, Database
from agent_core.tools import answer_files
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.pictures.names import name_file
from agent_core.tools.pictures.server import MadePicture, PictureFailed, PictureServer
from agent_core.tools.policy.contract import Action
from agent_core.tools.schemas import make_schema
from agent_core.transcript import Receipt, ToolSpec, flatten

PURPOSE = "picture"
"""The purpose of these calls in the records of usage."""
_LONGEST = 4000
_SLACK = 40.0
"""Seconds beside the server's own: for the fetch of a picture and the database."""
_MADE = Text("🖼 Picture by {model}: ${price:,.2f}, {number} of {most} today")
_MADE_FREE = Text("🖼 Picture by {model}: {number} of {most} today")
_SUFFIXES = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif"}

_SPEC = ToolSpec(
    name="image_generate",
    description=(
        "Make a picture (drawing, photo, logo, illustration) from a description, when the person"
        " asks for one. It costs money, so one call a wish. It goes out with your answer, and you"
        " don't see it. Not for numbers (`chart`). `prompt` is the whole description with subject,"
        ' style and mood. Example: {"prompt": "A red fox under a lighthouse at night, watercolour"}'
    ),
    schema=make_schema(
        ("prompt",), prompt={"type": "string", "minLength": 1, "maxLength": _LONGEST}
    ),
)


class Reservation(Protocol):
    """A price that is set aside."""

    day_start: int

    def close(self, *, is_spent: bool) -> None:
        """Release the price, or count it as spent."""


Reserve = Callable[[PersonId, int], Awaitable[Reservation]]
"""Sets a price in micro-dollars aside in a person's budget. Raises `QuotaExceeded`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturePrice:
    """Sets the price of a picture in micro-dollars, and how many a person gets in a day."""

    micro_dollars: int
    most_per_day: int


class ImageTool:
    """The `image_generate` tool.

    The price is set aside before the call, and no call is made twice: after a crash, its outcome
    is unknown.
    """

    spec = _SPEC
    effect: Effect = "unsafe"

    def __init__(
        self, database: Database, server: PictureServer, price: PicturePrice, reserve: Reserve
    ) -> None:
        self._database = database
        self._server = server
        self._price = price
        self._reserve = reserve
        self._claims: Counter[tuple[PersonId, int]] = Counter()
        """Pictures of a person and a day, made and begun."""
        self.declaration = Declaration(
            cost="money", time_limit=server.seconds + _SLACK, has_receipts=True
        )

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Return that money is spent, where words of others have been read.

        A person who asks for a picture needs no question: the owner has set price and number.
        """
        if not context.sources:
            return ()
        prompt = flatten(str(arguments["prompt"]), _LONGEST)
        target = f"${self._price.micro_dollars / 1_000_000:,.2f}, {prompt}"
        return (Action(kind="spend", target=target, place=self._server.model, is_outward=True),)

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Have one picture made, and attach it to the answer. Raises `StoreError`."""
        if not await self._database.read(answer_files.has_room, context):
            return _fail(answer_files.FULL)
        try:
            reservation = await self._reserve(context.person_id, self._price.micro_dollars)
        except QuotaExceeded:
            return _fail("today's budget has no room for it; tomorrow it has")
        number, is_spent = 0, False
        day = (context.person_id, reservation.day_start)
        try:
            number = await self._claim(day)
            if number > self._price.most_per_day:
                return _fail(f"{self._price.most_per_day} a day are the most here")
            result, is_spent = await self._make(str(arguments["prompt"]), context, number)
            return result
        finally:
            if number and not is_spent:
                self._claims[day] -= 1
            reservation.close(is_spent=is_spent)

    async def _make(
        self, prompt: str, context: ToolContext, number: int
    ) -> tuple[ToolResult, bool]:
        """Have the picture made; return the result, and whether it costs."""
        try:
            made = await self._server.make(prompt)
        except PictureFailed as error:
            if error.is_billed:
                await self._database.write("images.bill", self._bill, None, context)
            return _fail(str(error)), error.is_billed
        name = f"{name_file(prompt) or 'picture'}.{_SUFFIXES[made.media_type]}"

        def work(connection: Connection) -> bool:
            self._bill(connection, made, context)
            return answer_files.attach(
                connection, context, name=name, data=made.data, media_type=made.media_type
            )

        if not await self._database.write("images.attach", work):
            return _fail(answer_files.FULL), True
        return (
            ToolResult(
                text=f"{name} goes out with your answer.",
                receipts=(self._make_receipt(number),),
            ),
            True,
        )

    def _bill(self, connection: Connection, made: MadePicture | None, context: ToolContext) -> None:
        spent = ModelCall(
            purpose=PURPOSE,
            model=self._server.model,
            input_tokens=made.input_tokens if made else 0,
            output_tokens=made.output_tokens if made else 0,
            micro_dollars=self._price.micro_dollars,
        )
        usage.insert(
            connection,
            spent,
            person_id=context.person_id,
            turn_id=context.turn_id,
            now=context.now,
        )

    async def _claim(self, day: tuple[PersonId, int]) -> int:
        """Count one more picture of a person's day, and return its number.

        Calls run side by side, and one that is billed but not yet back counts once.
        """
        person_id, since = day
        made = await self._database.read(
            usage.count_since, person_id=person_id, purpose=PURPOSE, since=since
        )
        self._claims[day] = max(made, self._claims[day]) + 1
        return self._claims[day]

    def _make_receipt(self, number: int) -> Receipt:
        """Say in the reader's language what the picture cost."""
        values = {"model": self._server.model, "number": number, "most": self._price.most_per_day}
        if not self._price.micro_dollars:
            return Receipt(text=_MADE_FREE(**values))
        return Receipt(text=_MADE(price=self._price.micro_dollars / 1_000_000, **values))


def _fail(reason: str) -> ToolResult:
    return ToolResult(text=f"No picture: {reason}.", is_error=True)
