"""Make the home that the tests import, with Hermes Agent's own program.

Run it with a Python that has `hermes-agent==0.19.0`, and HERMES_HOME naming an empty folder. Then
pack the folder: `tar -czf tests/integration/importing/hermes_home.tar.gz -C $HERMES_HOME .`
"""

from cron.jobs import create_job, pause_job
from hermes_cli.config import save_env_value
from hermes_constants import get_hermes_home
from hermes_state import SessionDB

from tools.memory_tool import MemoryStore
from tools.skill_manager_tool import skill_manage

_SKILL = """\
---
name: tea-brewing
description: Brew tea at the right temperature. Use when somebody asks for tea.
---

# Tea

Green tea takes 70 degrees, black tea 96.
"""


def main() -> None:
    """Write memory, SOUL.md, jobs, a conversation, a skill and a token."""
    memory = MemoryStore()
    memory.load_from_disk()
    memory.add("memory", "The staging server is stage-1; deploys run with `make ship`.")
    memory.add("memory", "Project notes:\nthe release train leaves on Thursdays.")
    memory.add("user", "Ada prefers short answers.")
    memory.add("user", "Ada lives in Berlin.")
    create_job("Summarise my unread mail.", "0 8 * * 1-5", name="Morning mail", deliver="telegram")
    create_job("Check the build.", "every 30m", name="Build watch", deliver="local")
    create_job("Remind me of the dentist.", "2035-03-01T09:00:00", name="Dentist")
    pause_job(create_job("Water the plants.", "every 2h", name="Plants")["id"])
    sessions = SessionDB()
    sessions.create_session("s1", "telegram", model="m")
    sessions.append_message("s1", "user", "Where is the boiler manual?")
    sessions.append_message("s1", "assistant", "In the blue folder in the cellar.")
    sessions.set_session_title("s1", "The boiler")
    sessions.close()
    (get_hermes_home() / "SOUL.md").write_text("You are Iris. You answer in rhymes.\n")
    print(skill_manage(action="create", name="tea-brewing", content=_SKILL, category="kitchen"))
    save_env_value("TELEGRAM_BOT_TOKEN", "123456789:AAExampleOnlyATestExampleOnlyATest0")


main()
