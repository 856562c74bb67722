"""The loop of one turn: model calls and tool calls, until there is an answer."""
