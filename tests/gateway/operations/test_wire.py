"""Requests and answers of operations as JSON."""

import json
from typing import Any

import pytest

from agent_core.ids import JobId
from agent_core.schedule.job_fields import DECLARATIONS
from gateway.errors import Mistaken
from gateway.operations.job_types import AddJob, JobPreview, PlatformPreview, ResultFile
from gateway.operations.wire import dump, load, load_known
from tests.tables import check_each

FILE = ResultFile(name="week.png", media_type="image/png", size=3)
PREVIEW = JobPreview(
    id=JobId(3),
    person="ann",
    room=None,
    kind="prompt",
    title="Digest",
    meaning="At 08:00",
    coming="Mon",
    next_at=7,
    zone="UTC",
    ways=("Model: big",),
    state="active",
    reason="",
    is_sample=False,
    platforms=(PlatformPreview(name="fake", messages=("a", "b"), files=(FILE,)),),
)


def test_an_answer_comes_back_from_json_as_it_was() -> None:
    assert load(JobPreview, json.loads(json.dumps(dump(PREVIEW)))) == PREVIEW
    assert json.loads(json.dumps(dump(PREVIEW))) == dump(PREVIEW)


def test_a_value_of_a_wrong_type_is_refused_with_a_sentence() -> None:
    rows: list[tuple[dict[str, Any], str]] = [
        ({"person": None}, "The person must be a text."),
        ({"person": 3}, "The person must be a text."),
        ({"count": "3"}, "The count must be a number."),
        ({"count": True}, "The count must be a number."),
        ({"urgent": 1}, "The urgent must be true or false."),
        ({"times": "08:00"}, "The times must be a list."),
        ({"times": [8]}, "The times must be a text."),
        ({"kind": "system"}, "Give a prompt, a message or a script."),
        ({"late": "never"}, "The rule for missed times is one of catch_up, skip, all."),
        ({"colour": "red"}, "There is no field colour."),
    ]

    def check(row: tuple[dict[str, Any], str]) -> None:
        with pytest.raises(Mistaken) as caught:
            load(AddJob, {"person": "ann", **row[0]})
        assert str(caught.value) == row[1]

    check_each(rows, check)
    with pytest.raises(Mistaken, match=r"The person is missing\."):
        load(AddJob, {})


def test_a_command_line_gives_the_fields_that_a_request_has() -> None:
    asked = load_known(AddJob, {"person": "ann", "day_usd": 2, "verb": "add", "times": ["08:00"]})
    assert asked == AddJob(person="ann", day_usd=2, times=("08:00",))


def test_each_field_of_a_job_is_offered_somewhere() -> None:
    names = [one.name for one in DECLARATIONS]
    assert len(names) == len(set(names))
    stored = [one.option.name for one in DECLARATIONS if one.option]
    assert len(stored) == len(set(stored))
    assert all(one.flag or one.name in ("kind", "text", "in_minutes") for one in DECLARATIONS)
