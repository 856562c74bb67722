"""The API with seven libraries: chat, stream, structured answers and tools, as each does it.

They are not among the dependencies: `make try-clients` installs them. Each script in
`tests/libraries` asserts, and prints what it has done.
"""

import asyncio
import os
from pathlib import Path

import pytest

from tests.fakes.actor import Actor
from tests.fakes.chat import FakeChat
from tests.integration.interfaces.api_setup import make_token
from tests.integration.served import served

SCRIPTS = Path(__file__).parents[2] / "libraries"
PLACE = Path(os.environ.get("CLIENT_LIBRARIES", "/nowhere"))
KINDS = ("plain", "stream", "structured", "tools")
COUNTS = {
    "openai_python.py": 8,
    "litellm_python.py": 4,
    "langchain_python.py": 8,
    "pydantic_ai_python.py": 8,
    "openai_agents_python.py": 8,
    "openai_node.mjs": 8,
    "vercel_ai.mjs": 12,
}


@pytest.mark.thorough
@pytest.mark.parametrize("script", COUNTS)
async def test_a_library_does_everything(home: Path, script: str, tmp_path: Path) -> None:
    is_python = script.endswith(".py")
    if not (PLACE / ("py" if is_python else "js/node_modules")).exists():
        pytest.skip("`make try-clients` installs the libraries")
    program = str(PLACE / "py/bin/python") if is_python else "node"
    place = tmp_path / script if is_python else PLACE / "js" / script
    place.write_text((SCRIPTS / script).read_text())  # node looks for modules beside the script
    async with served(home, adapters={"fake": FakeChat()}, model=Actor()) as running:
        key = await make_token(home, "olga")
        url = str((running.address / "v1").with_query(None))
        process = await asyncio.create_subprocess_exec(
            program,
            str(place),
            url,
            key,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OPENAI_API_KEY": "none"},
        )
        out, err = await process.communicate()
    done = [line for line in out.decode().splitlines() if line.endswith(KINDS)]
    assert process.returncode == 0, f"after {done}:\n{err.decode()[-3000:]}"
    assert len(done) == COUNTS[script], done
