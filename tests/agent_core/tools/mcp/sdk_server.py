"""A server written with the official SDK; the first word chooses the transport."""

import asyncio
import io
import os
import sys
from importlib import import_module
from typing import Annotated

from mcp.server.mcpserver import (
    Context,
    Elicit,
    ElicitationResult,
    MCPServer,
    Resolve,
    Sample,
)
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CreateMessageResult, SamplingMessage, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

server = MCPServer("python")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(annotations=ToolAnnotations(destructive_hint=True, read_only_hint=False))
def wipe(name: str) -> str:
    """Delete something."""
    return f"{name} is gone"


@server.tool()
def fail() -> str:
    """Always fail."""
    raise RuntimeError("out of paper")


@server.tool()
def environment(name: str) -> str:
    """Show one variable."""
    return os.environ.get(name, "not set")


@server.tool()
async def grow(context: Context) -> str:
    """Add a further tool."""
    server.add_tool(lambda: "new", name="grown", description="A tool that came later.")
    await context.notify_tools_changed()
    return "grown"


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return f"the note {name}"


@server.resource("file://letter", mime_type="application/pdf")
def letter() -> bytes:
    """A PDF file with an empty page."""
    file = io.BytesIO()
    # Each server would load it, and one test asks for this.
    writer = import_module("pypdf").PdfWriter()
    writer.add_blank_page(72, 72)
    writer.write(file)
    return file.getvalue()


@server.resource("note://plan", title="The plan")
def plan() -> str:
    return "buy milk"


@server.prompt()
def review(code: str) -> str:
    """Review some code."""
    return f"Review this: {code}"


class Trip(BaseModel):
    city: str = Field(title="City")
    nights: int = Field(default=2, title="Nights")
    is_quiet: bool = Field(default=True, title="A quiet room?")


class Login(BaseModel):
    password: str


def ask_for_trip() -> Elicit[Trip]:
    return Elicit("Where to?", Trip)


def ask_model() -> Sample:
    text = TextContent(type="text", text="Hello")
    return Sample([SamplingMessage(role="user", content=text)], max_tokens=10)


def ask_for_login() -> Elicit[Login]:
    return Elicit("Who are you?", Login)


@server.tool()
async def book(answer: Annotated[ElicitationResult[Trip], Resolve(ask_for_trip)]) -> str:
    """Ask where to, then book."""
    return f"{answer.action} {getattr(answer, 'data', None)!r}"


@server.tool()
async def log_in(answer: Annotated[ElicitationResult[Login], Resolve(ask_for_login)]) -> str:
    """Ask for a password, which nobody should give."""
    return answer.action


@server.tool()
async def think(answer: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
    """Use the model of the client."""
    return answer.model


@server.tool()
async def count(context: Context, to: int) -> str:
    """Count, and say how far it is."""
    for number in range(1, to + 1):
        await context.report_progress(number, to, "sheep")
    return "done"


@server.tool()
async def graze(context: Context) -> str:
    """Say how far it is, and never end."""
    await context.report_progress(1, 2, "sheep")
    await asyncio.Event().wait()
    return "done"


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.run("streamable-http", port=int(os.environ["PORT"]), transport_security=security)
    else:
        server.run("stdio")
