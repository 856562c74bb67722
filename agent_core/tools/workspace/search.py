"""The `search_files` tool: uses ripgrep in the workspace, or grep and find if it is missing."""

from collections.abc import Mapping

from agent_core.execution.contract import Command
from agent_core.execution.timed_command import run_command
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.schemas import make_schema
from agent_core.tools.workspace.background import LOGS
from agent_core.tools.workspace.shell import STATES
from agent_core.tools.workspace.workspaces import OUTPUTS, Workspaces, find_slug, read_text
from agent_core.transcript import ToolSpec, make_source, strip_controls

_SECONDS = 30.0
_MOST_BYTES = 200_000
_MOST_LINES = 100
_LONGEST_LINE = 300
_SHOWS = ("lines", "files", "count")
_MOST_AROUND = 20
_OWN = frozenset((OUTPUTS, LOGS, STATES))
_SEARCH = """
path=$1 pattern=$2 glob=$3 show=$4 around=$5
shift 5
found=() rg=() grep=()
for one; do
    found+=(-not -path "*/$one/*") rg+=(--glob "!$one") grep+=(--exclude-dir="$one")
done
case $show in
    files) rg+=(--files-with-matches) grep+=(-l) ;;
    count) rg+=(--count) grep+=(-c) ;;
    *) [ "$around" = 0 ] || { rg+=(--context "$around"); grep+=(-C "$around"); } ;;
esac
if [ ! -e "$path" ]; then
    echo "there is no ${path#./}"
    exit 2
elif [ -z "$pattern" ]; then
    find "$path" -type f -name "$glob" "${found[@]}" | sed 's|^\\./||' | sort |
        if [ "$show" = count ]; then wc -l; else cat; fi
elif command -v rg >/dev/null; then
    exec rg --no-config --hidden ${glob:+--glob "$glob"} "${rg[@]}" --line-number --no-heading \\
        --with-filename --color never --sort path -e "$pattern" -- "$path"
else
    flavor=E  # it knows no \\d, as models write it, and finds nothing without a word
    grep -qP x <<< x 2>/dev/null && flavor=P
    grep -rnIH$flavor "${grep[@]}" ${glob:+--include="$glob"} -e "$pattern" -- "$path" |
        case $show in
            count) grep -v ':0$' | sort ;;
            files) sort ;;
            *) cat ;;
        esac
    exit ${PIPESTATUS[0]}
fi
"""
"""This script runs in the sandbox, so a path or a pattern can't reach anything else."""


class SearchFilesTool:
    """The `search_files` tool."""

    spec = ToolSpec(
        name="search_files",
        description=(
            "Find lines in files of the workspace; without `pattern`, find the files themselves."
            " Not for the web (`web_search`) or for earlier conversations (`recall`). Example:"
            ' {"pattern": "TODO|FIXME", "glob": "*.py", "context": 2}'
        ),
        schema=make_schema(
            (),
            pattern={"type": "string", "description": "a regular expression"},
            glob={"type": "string", "description": "only files like *.py"},
            path={"type": "string", "description": "only below this folder"},
            show={
                "enum": list(_SHOWS),
                "description": "lines by default; only the files, or the number of matches in each",
            },
            context={
                "type": "integer",
                "minimum": 0,
                "maximum": _MOST_AROUND,
                "description": "lines before and after each match, 0 by default",
            },
        ),
    )
    effect: Effect = "read"
    declaration = Declaration()

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Search, and return the first matches.

        Raises `ToolArgumentError`, `WorkspaceError` and `BackendUnavailable`.
        """
        pattern, glob = read_text(arguments, "pattern"), read_text(arguments, "glob")
        path = self._workspaces.read_path(arguments)
        path = "" if path == "." else path
        if not pattern and not glob:
            glob = "*"
        # Outputs and logs of Talaria repeat what was found before.
        own = () if _OWN & {*path.split("/")} else _OWN
        how = (read_text(arguments, "show"), str(arguments.get("context", 0)))
        words = (_name(path), pattern, glob, *how, ".git", *sorted(own))
        argv = ("/bin/bash", "-c", _SEARCH, "search", *words)
        done = await run_command(
            self._workspaces.backend,
            Command(workspace=find_slug(context), argv=argv),
            seconds=_SECONDS,
            most_bytes=_MOST_BYTES,
        )
        text = strip_controls(done.output.decode("utf-8", "replace"))
        lines = [line.removeprefix("./") for line in text.splitlines()]
        has_failed = done.status > 1 and not done.limit
        if has_failed:
            reason = lines[-1] if lines else "it gives no reason"
            shown = [f"The search failed: {reason[:_LONGEST_LINE]}"]
        elif not lines and done.limit != "time":
            return ToolResult(text="Nothing matches.")
        else:
            shown = [*map(_shorten, lines[:_MOST_LINES]), *_describe_rest(lines, done.limit)]
        return ToolResult(
            text="\n".join(shown),
            is_error=has_failed,
            sources=(make_source("command", "search_files"),),
        )


def _name(path: str) -> str:
    """Return a path that programs can't take for an option."""
    return path if path.startswith("/") else f"./{path}"


def _shorten(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def _describe_rest(lines: list[str], limit: str) -> list[str]:
    if limit == "time":
        return [f"[The search was stopped after {_SECONDS:g} s; name a folder or a glob.]"]
    if limit or len(lines) > _MOST_LINES:
        return [f"[There is more than these {_MOST_LINES} lines; search for something rarer.]"]
    return []
