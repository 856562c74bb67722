"""What a printed command needs before it, what a person types, and how its deed shows."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.agent_core.tools.mcp import oauth_server
from tests.emulators import whatsapp
from tests.emulators.signal_world import ACCOUNT

Answer = str | Callable[[re.Match[str]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What a reader does with a command.

    `first` and `then` are lines of a shell before and after it. `types` are answers in a terminal,
    each with its question. `says` matches what `then` writes; without `then`, the command.
    `is_walled` means that the command starts a program in bubblewrap.
    """

    first: str = ""
    then: str = ""
    says: str = ""
    types: tuple[tuple[str, Answer], ...] = ()
    is_walled: bool = False


NOTHING = Walk()
STOP = "\x03"
_HIDDEN = r"not shown\): "
_COPY = "; ".join(
    (
        "git config --global user.name Ada",
        "git config --global user.email ada@example.org",
        "git init --quiet up",
        "git -C up commit --quiet --allow-empty -m First",
        "git clone --quiet up copy",
        "cd copy",
    )
)
"""Makes a repository and a copy of it."""
_MAKE = "cd $ROOT; export MAKEFLAGS=VENV=$HOME/venv"
_NEW = "export TALARIA_HOME=~/new; unset ANTHROPIC_API_KEY TELEGRAM_BOT_TOKEN"
_CODER = "talaria agents add coder"
_BATCH = "talaria batch run tasks.jsonl"
_LINES = "wc -l data.jsonl"
_OPENAI = "export TALARIA_MODEL__PROVIDER=openai OPENAI_BASE_URL=$OPENAI_EMULATOR"
_MCP = "talaria mcp add files --local -- mcp-server-filesystem < /dev/null"
_UPGRADED = """\
mkdir -p ~/.config/systemd/user
echo '# Written by `talaria service install`' > ~/.config/systemd/user/talaria.service"""
"""Leaves a service of a former version, which runs."""
_UNIT = "cat ~/.config/systemd/user/talaria.service ~/calls"
_ASKS_MCP = ((r"Accept the tools that wait\? \[y/N\] ", "y\n"),)
PASSPHRASE = "correct horse battery"
_TWICE = ((_HIDDEN, f"{PASSPHRASE}\n"), ("Once more: ", f"{PASSPHRASE}\n"))
_LOCKED = "talaria backup talaria.tar.gz.age --passphrase"
_TO_WORKSPACE = """\
mkdir -p ~/work/.agents/skills
mv ~/.talaria/skills/plants ~/work/.agents/skills
talaria config set prompt.folder ~/work"""
_INITIALIZE = (
    '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {},'
    ' "protocolVersion": "2025-06-18", "clientInfo": {"name": "claude", "version": "1"}}}'
)


def sign_in(found: re.Match[str]) -> str:
    """Sign in as Anna in a browser, and return the address of its last page."""
    return asyncio.run(oauth_server.sign_in(found[1], "anna@x")) + "\n"


WALKS: dict[str, Walk] = {
    # Starting and stopping.
    "make run": Walk(first=_MAKE, types=(("Ready", STOP),)),
    "make demo": Walk(first=_MAKE, says="(?i)spare key is with Ada"),
    "talaria run": Walk(types=(("Ready", STOP),)),
    "TALARIA_HTTP__PORT=8080 talaria run": Walk(types=(("Ready", STOP),)),
    "talaria logs -f": Walk(types=(("INFO", STOP),)),
    "talaria service install": Walk(
        first=_UPGRADED, then=_UNIT, says=r"^ExecStart=[\s\S]*^systemctl --user restart talaria"
    ),
    "talaria service status": Walk(first=_UPGRADED, then="cat ~/calls", says="--user status"),
    "talaria service logs --follow": Walk(first=_UPGRADED, then="cat ~/calls", says="--follow"),
    "talaria service remove": Walk(
        first=_UPGRADED, then="ls ~/.config/systemd/user", says=r"^(?!.*talaria\.service)"
    ),
    # Setting up.
    "talaria setup": Walk(
        types=(
            (r"Choose \[1\]: ", "\n"),
            (r"Choose \[\d\]: ", "\n"),
            (r"console page open.*\[Y/n\]: ", "n\n"),
            ("Your name.*: ", "Anna\n"),
            (r"time zone \[.*\]: ", "Tokyo\n"),
            (r"Write a new one.*\[y/N\]: ", "\n"),
            (r"Start Talaria now\? \[Y/n\]: ", "n\n"),
        ),
        then="cat ~/.talaria/config.toml",
        says="Asia/Tokyo",
    ),
    "talaria setup telegram": Walk(
        first=_NEW, types=((_HIDDEN, "{telegram}\n"),), then="cat ~/new/.env", says="TELEGRAM_BOT"
    ),
    "talaria setup discord": Walk(
        first=_NEW, types=((_HIDDEN, "{discord}\n"),), then="cat ~/new/.env", says="DISCORD_BOT"
    ),
    "talaria setup slack": Walk(
        first=_NEW,
        types=((_HIDDEN, "{slack_bot}\n"), (_HIDDEN, "{slack_app}\n")),
        then="cat ~/new/.env",
        says="SLACK_APP_TOKEN",
    ),
    "talaria setup signal": Walk(
        first=_NEW,
        types=(("number.*: ", f"{ACCOUNT}\n"),),
        then="cat ~/new/.env",
        says=re.escape(ACCOUNT),
    ),
    "talaria setup whatsapp": Walk(
        first=_NEW,
        types=(
            ("access token.*: ", f"{whatsapp.TOKEN}\n"),
            ("phone number ID.*: ", f"{whatsapp.PHONE_ID}\n"),
            ("app secret.*: ", f"{whatsapp.SECRET}\n"),
            ("verify token.*: ", f"{whatsapp.VERIFY}\n"),
            ("public https address.*: ", "https://talaria.example.org\n"),
        ),
        then="cat ~/new/.env",
        says="WHATSAPP_ACCESS_TOKEN",
    ),
    "TELEGRAM_BOT_TOKEN=123:AAE... talaria setup --non-interactive --time-zone Europe/Vienna": Walk(
        first=_NEW, then="cat ~/new/config.toml", says="Europe/Vienna"
    ),
    "ANTHROPIC_API_KEY=sk-ant-... TELEGRAM_BOT_TOKEN=123:AAE... talaria setup --non-interactive"
    " --time-zone Europe/Vienna": Walk(
        first=_NEW, then="cat ~/new/.env", says="ANTHROPIC_API_KEY="
    ),
    # Backups with a passphrase.
    "talaria backup ~/talaria.tar.gz.age --passphrase": Walk(
        types=(*_TWICE, (_HIDDEN, f"{PASSPHRASE}\n")),
        then="talaria restore --check ~/talaria.tar.gz.age",
        says="is complete",
    ),
    "sed '/^-----END/q' talaria.tar.gz.age | age -d > key.txt": Walk(
        first=_LOCKED,
        types=(*_TWICE, ("Enter passphrase: ", f"{PASSPHRASE}\n")),
        then="cat key.txt",
        says="AGE-SECRET-KEY",
    ),
    "sed '1,/^-----END/d' talaria.tar.gz.age | age -d -i key.txt | tar -tz": Walk(
        first=f"{_LOCKED}; sed '/^-----END/q' talaria.tar.gz.age | age -d > key.txt",
        types=(*_TWICE, ("Enter passphrase: ", f"{PASSPHRASE}\n")),
        says=r"state\.db",
    ),
    "talaria restore s3://bucket/nightly-20261126T033000Z.tar.gz.age": Walk(
        first=f"export BACKUP_PASSPHRASE='{PASSPHRASE}'; talaria jobs delete 3",
        then="talaria jobs list",
        says="Water",
    ),
    # People.
    'talaria people forget ada "dentist"': Walk(
        types=(("Type yes to delete it: ", "yes\n"),), says="deletes it"
    ),
    'talaria people forget ada "dentist" --notes --yes': Walk(says="deleted"),
    "talaria people erase ada": Walk(
        types=(("Type ada to continue: ", "ada\n"),),
        then="talaria people list",
        says=r"^(?![\s\S]*Ada)",
    ),
    # Deeds that wait for something.
    "talaria jobs webhook 3": Walk(says="/hooks/"),
    "talaria skills agree plants": Walk(
        first=_TO_WORKSPACE, then="talaria skills check", says="plants: good$"
    ),
    "talaria skills install ~/Downloads/my-skill": Walk(
        types=((r"\? \[y/N\] ", "y\n"),), then="ls ~/.talaria/skills", says="my-skill"
    ),
    "talaria skills eval plants": Walk(says="plants: passed"),
    "talaria skills curate --restore": Walk(
        first="rm -r ~/.talaria/skills/plants", then="ls ~/.talaria/skills", says="plants"
    ),
    # MCP.
    "talaria mcp add notes --local --writable ~/notes -- mcp-server-filesystem ~/notes": Walk(
        types=_ASKS_MCP, then="talaria mcp list", says="Tools accepted: add", is_walled=True
    ),
    "talaria mcp add web --url https://mcp.example.org/ --header 'Authorization=Bearer $TOKEN'": (
        Walk(
            first="export TOKEN=$MCP_TOKEN",
            types=_ASKS_MCP,
            then="talaria mcp list",
            says="Tools accepted: whoami, inbox",
        )
    ),
    "talaria mcp add web --url https://mcp.example.org/"
    " --header 'Authorization=Bearer $EXAMPLE_TOKEN'": Walk(
        first="export EXAMPLE_TOKEN=$MCP_TOKEN",
        types=_ASKS_MCP,
        then="talaria mcp list",
        says="Tools accepted: whoami, inbox",
    ),
    "talaria mcp add web --oauth --url https://mcp.example.org/": Walk(
        types=((r"(http://\S+/door\S+)\s[\s\S]*Address: ", sign_in), *_ASKS_MCP),
        then="talaria mcp list",
        says="Tools accepted: whoami, inbox",
    ),
    "talaria mcp test files": Walk(first=_MCP, says="Add two numbers", is_walled=True),
    "talaria mcp accept files": Walk(
        first=_MCP,
        types=_ASKS_MCP,
        then="talaria mcp list",
        says="Tools accepted: add",
        is_walled=True,
    ),
    "talaria mcp serve --person ada": Walk(first=f"exec <<< '{_INITIALIZE}'", says='"serverInfo"'),
    # Models.
    "talaria models test": Walk(first=_OPENAI, says="fit for chat"),
    "talaria models test qwen3:8b": Walk(first=_OPENAI, says="fit for chat"),
    # What has a number or a name.
    "talaria backup ~/talaria.tar.gz.age --recipient age1...": Walk(
        then="talaria restore ~/talaria.tar.gz.age --identity ~/key.txt --check", says="complete"
    ),
    "talaria restore ~/talaria.tar.gz.age --identity ~/key.txt": Walk(
        first="talaria backup ~/talaria.tar.gz.age --recipient age1...; talaria jobs delete 3",
        then="talaria jobs list",
        says="Water",
    ),
    "talaria batch run tasks.jsonl": Walk(says="2 lines: 2 succeeded"),
    "talaria batch run tasks.jsonl --at-once 20": Walk(says="2 lines: 2 succeeded"),
    "talaria batch run tasks.jsonl --at-once 50 --budget 20 --tools terminal,read_file": Walk(
        first="talaria config set tools.backend local", says="2 lines: 2 succeeded"
    ),
    "talaria batch report tasks.run": Walk(first=_BATCH, says="2 succeeded"),
    "talaria batch report tasks.run --json": Walk(first=_BATCH, says='"succeeded": ?2'),
    "talaria batch export tasks.run data.jsonl --format sharegpt": Walk(
        first=_BATCH, then=_LINES, says="^2 "
    ),
    "talaria batch export tasks.run data.jsonl --format openai": Walk(
        first=_BATCH, then=_LINES, says="^2 "
    ),
    "talaria batch export tasks.run data.jsonl --used terminal --max-tokens 16000": Walk(
        first=_BATCH, then=_LINES, says="^0 "
    ),
    "talaria mcp remove files": Walk(
        first="printf '[servers.files]\ncommand = \"cat\"\n' > ~/.talaria/mcp.toml",
        then="talaria mcp list",
        says=r"^(?![\s\S]*files)",
    ),
    "talaria people approve K7QD2M": Walk(then="talaria people list", says="Carl"),
    "talaria people cancel 3": Walk(then="talaria people waiting", says=r"^(?![\s\S]*Carl)"),
    "talaria jobs restore 3": Walk(
        first="talaria jobs delete 3", then="talaria jobs list", says="Water"
    ),
    "talaria skills restore plants": Walk(
        first="talaria skills archive plants", then="ls ~/.talaria/skills", says="plants"
    ),
    "talaria skills rollback plants": Walk(
        then="cat ~/.talaria/skills/plants/SKILL.md", says="Mondays"
    ),
    "talaria skills rollback plants --to 2": Walk(
        first="talaria skills rollback plants",
        then="cat ~/.talaria/skills/plants/SKILL.md",
        says="Fridays",
    ),
    "talaria skills undo 57": Walk(then="cat ~/.talaria/skills/plants/SKILL.md", says="Mondays"),
    "talaria agents show coder": Walk(first=_CODER, says="coder"),
    "talaria agents change coder --tags work,code": Walk(
        first=_CODER, then="talaria agents show coder", says="work"
    ),
    "talaria agents archive coder": Walk(
        first=_CODER, then="ls ~/.talaria/agents", says=r"^(?![\s\S]*coder)"
    ),
    "talaria agents restore coder": Walk(
        first=f"{_CODER}; talaria agents archive coder", then="talaria agents list", says="coder"
    ),
    "talaria teams restore desk": Walk(
        first="talaria teams archive desk", then="talaria teams list", says="desk"
    ),
    "talaria models forget qwen3:8b": Walk(
        first="talaria models trust qwen3:8b", says="Forgotten of qwen3"
    ),
    "talaria models update --from ~/prices.json": Walk(then="ls ~/.talaria", says="models.json"),
    "talaria approvals revoke 7": Walk(then="talaria approvals list", says=r"^(?![\s\S]*git log)"),
    "talaria rooms set 3 off": Walk(then="talaria rooms list", says="off"),
    "talaria rooms set 3 room": Walk(
        first="talaria rooms set 3 off", then="talaria rooms list", says="room"
    ),
    "talaria rooms name 3 Kitchen": Walk(then="talaria rooms list", says="telegram: Kitchen"),
    "talaria rooms name 3": Walk(
        first="talaria rooms name 3 Kitchen", then="talaria rooms list", says="telegram: - "
    ),
    "talaria tokens revoke 2": Walk(
        first="talaria tokens create spare --person ada",
        then="talaria tokens list",
        says=r"^(?![\s\S]*spare)",
    ),
    "talaria webhooks resume 1": Walk(
        first="talaria webhooks pause 1", then="talaria webhooks list", says="active"
    ),
    "talaria webhooks restore 1": Walk(
        first="talaria webhooks remove 1", then="talaria webhooks list", says="active"
    ),
    "talaria webhooks redeliver 1 7": Walk(first="talaria webhooks test 1", says="is sent again"),
    "printf 'TELEGRAM_BOT_TOKEN=...\\nANTHROPIC_API_KEY=...\\n' > .env": Walk(
        then="cat .env", says=r"^TELEGRAM_BOT_TOKEN=\.\.\.\nANTHROPIC_API_KEY=\.\.\.\n$"
    ),
    "chmod 600 .env": Walk(
        first="touch .env; chmod 644 .env", then="stat -c %a .env", says="^600$"
    ),
    "rm -rf ~/.talaria": Walk(then="ls -A", says=r"^(?![\s\S]*\.talaria\n)"),
    "rm requirements*.lock": Walk(
        first="touch requirements.lock", then="ls", says=r"^(?![\s\S]*\.lock)"
    ),
    "git pull": Walk(
        first=f"{_COPY}; git -C ../up commit --quiet --allow-empty -m Second",
        then="git log --format=%s",
        says="Second",
    ),
    'git -c core.hooksPath=.git/hooks commit -m "Fix the date"': Walk(
        first=f"{_COPY}; touch date; git add date", then="git log --format=%s", says="Fix the date"
    ),
    'git -c filter.lfs.smudge="git-lfs smudge -- %f" checkout .': Walk(
        first=f"{_COPY}; echo 1 > date; git add date; git commit --quiet -m Date; rm date",
        then="cat date",
        says="^1$",
    ),
    "export OPENAI_BASE_URL=http://192.168.1.20:11434/v1": Walk(
        then="printenv OPENAI_BASE_URL", says="/v1"
    ),
    "export TALARIA_MODEL__NAME=qwen3:8b": Walk(
        then="talaria config get model.name", says="qwen3:8b"
    ),
}
