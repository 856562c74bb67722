"""The skills of a folder are searched with the bundled ones; a label may have others beside it."""

import json
from pathlib import Path

from bench.skills.corpus import WrittenSkill, write_skills
from bench.skills.folder import place_requests, summarize


async def test_requests_are_placed_among_the_skills_of_a_folder(tmp_path: Path) -> None:
    written = [
        WrittenSkill(f"{plant}-care", f"Looks after every {plant}. {'Water it. ' * 15}", "Do it.")
        for plant in ("rose", "cactus", "fern", "orchid", "ivy", "palm", "lily", "moss", "tulip")
    ]
    write_skills(tmp_path / "skills", written, is_quoted=True)
    requests = [
        {"request": "my orchid droops", "skill": "orchid-care"},
        {"request": "my tulip droops", "skill": "ivy-care", "also": ["tulip-care"]},
    ]
    orchid, tulip = await place_requests(tmp_path / "skills", [json.dumps(one) for one in requests])

    assert (orchid.place, orchid.best_place, orchid.is_suggested) == (0, 0, True)
    assert tulip.place != 0
    assert tulip.best_place == 0
    figures = {one.name: one.value for one in summarize([orchid, tulip])}
    assert figures["among the first 1"] == 50
    assert figures["among the first 1, others that are as right allowed"] == 100
