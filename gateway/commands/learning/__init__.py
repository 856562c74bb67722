"""Commands about what the assistant learns from finished turns, and about skills."""

from gateway.commands.learning.curator import CuratorCommands as CuratorCommands
from gateway.commands.learning.feed import LearningCommands as LearningCommands
from gateway.commands.learning.feed import choose_learning as choose_learning
from gateway.commands.learning.profile import ProfileCommands as ProfileCommands
from gateway.commands.learning.skill_undo import SkillUndo as SkillUndo
from gateway.commands.learning.skills import SkillCommands as SkillCommands
