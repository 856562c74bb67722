"""Tools for the chat itself: `todo` keeps the plan, `send_message` writes to other chats."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.tools.chat.group_titles import GroupTitlesTool as GroupTitlesTool
    from agent_core.tools.chat.send_message import HOME as HOME
    from agent_core.tools.chat.send_message import ROOM_SIGN as ROOM_SIGN
    from agent_core.tools.chat.send_message import Destination as Destination
    from agent_core.tools.chat.send_message import Messenger as Messenger
    from agent_core.tools.chat.send_message import SendMessageTool as SendMessageTool
    from agent_core.tools.chat.todo import TodoTool as TodoTool
else:
    __getattr__ = export_lazily(__name__, __file__)
