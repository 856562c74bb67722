"""Skills: each subfolder with a SKILL.md is one."""

TALARIA_API = 1
