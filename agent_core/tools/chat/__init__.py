"""Tools for the chat itself: `todo` keeps the plan, `send_message` writes to other chats."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.tools.chat.send_message import (
        HOME,
        ROOM_SIGN,
        Destination,
        Messenger,
        SendMessageTool,
    )
    from agent_core.tools.chat.todo import TodoTool
else:
    __getattr__ = export_lazily(__name__, __file__)
