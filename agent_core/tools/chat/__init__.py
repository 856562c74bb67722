"""Tools for the chat itself: `todo` keeps the plan, `send_message` writes to other chats."""
