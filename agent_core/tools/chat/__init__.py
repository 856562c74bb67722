"""Tools for the chat itself: `todo` keeps the plan, `send_message` writes to other chats."""

from agent_core.tools.chat.send_message import (
    HOME,
    ROOM_SIGN,
    Destination,
    Messenger,
    SendMessageTool,
)
from agent_core.tools.chat.todo import TodoTool

__all__ = ["HOME", "ROOM_SIGN", "Destination", "Messenger", "SendMessageTool", "TodoTool"]
