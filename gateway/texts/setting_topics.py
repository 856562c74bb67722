"""Titles of the topics of the settings, and the words of their search."""

from collections.abc import Mapping

from agent_core.localization import Text

TITLES: Mapping[str, Text] = {
    "answers": Text("Answers, models and cost"),
    "memory": Text("Memory and learning"),
    "work": Text("Tools, files and reminders"),
    "people": Text("People and access"),
    "reached": Text("Console page and programs"),
    "running": Text("Log, alerts and backups"),
    "apps": Text("Chat apps"),
}
FIND = Text("Find a setting")
FIND_IT = Text("Find")
ALL = Text("All settings")
NOTHING = Text("No setting fits “{words}”. Try other words.")
"""The explanations of the settings are English, as their documentation is."""
