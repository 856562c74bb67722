"""Commands about what the assistant learns from finished turns."""

from gateway.commands.learning.feed import LearningCommands as LearningCommands
