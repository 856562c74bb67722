"""What the command line says of what models were sent, and of turns that were played again."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

_DOUBTS = {
    "": "the same as was sent",
    "not_noted": "can't be proved: nothing was noted of it, it is older than that",
    "prompt_gone": "can't be proved: its prompt was forgotten since",
    "forgotten": "can't be proved: words of this talk were forgotten since",
    "differs": "NOT the same as was sent: what stands in the database is something else",
}
_UNKNOWN = "What was sent here can't be told: nothing that came of it stands in the database."


def describe_requests(answer: Mapping[str, Any]) -> Iterator[str]:
    """The requests of a turn, line by line, with their prompt."""
    calls = answer["calls"]
    if not calls:
        yield f"No answer of a model is recorded in turn {answer['id']}."
        return
    yield "== system"
    yield "(forgotten since)" if answer["system"] is None else answer["system"].rstrip("\n")
    yield "== tools"
    for tool in answer["tools"] or ():
        yield f"{tool['name']}: {tool['description']}"
        yield f"    {tool['schema']}"
    for number, call in enumerate(calls, start=1):
        yield from _describe_call(number, len(calls), call)


def _describe_call(number: int, count: int, call: Mapping[str, Any]) -> Iterator[str]:
    limit = f"at most {call['limit']:,} tokens of answer, " if call["limit"] else ""
    yield (
        f"== call {number} of {count}: {call['model']}, {limit}{call['read']:,} tokens read"
        f" ({call['from_cache']:,} from the cache), {call['written']:,} written"
    )
    yield f"fingerprint {call['hash'] or 'none'}: {_DOUBTS[call['doubt']]}"
    if not call["is_known"]:
        yield _UNKNOWN
        return
    if call["pictures"]:
        yield f"pictures {', '.join(call['pictures'])}"
    if call["same"]:
        yield f"(the first {call['same']} messages of call {number - 1}, and then)"
    for message in call["messages"]:
        yield f"[{message['role']}]"
        for part in message["parts"]:
            yield from _describe_part(part)


def _describe_part(part: Mapping[str, Any]) -> Iterator[str]:
    match part["kind"]:
        case "text":
            yield part["text"]
        case "call":
            yield f"call {part['call_id']}: {part['name']} {part['arguments']}"
        case "result":
            failed = ", an error" if part["is_error"] else ""
            yield f"result of {part['call_id']} ({part['name']}{failed}):"
            yield part["text"]
        case _:
            yield json.dumps(part, ensure_ascii=False)


def describe_replay(answer: Mapping[str, Any]) -> Iterator[str]:
    """What came of a turn that was played again."""
    if "prompt" in answer:
        yield from _describe_memory_of_now(answer)
        return
    count, place = answer["calls"], answer["compared"] + 1
    requests = "1 request" if count == 1 else f"{count} requests"
    if not count:
        yield f"No answer of a model is recorded in turn {answer['id']}: nothing can be played."
    elif answer["verdict"] == "identical":
        one = "its fingerprint is that" if count == 1 else "their fingerprints are those"
        yield f"identical: {requests}, and {one} of what was sent."
    elif answer["verdict"] == "not_noted":
        yield f"Request {place} of {count} can't be compared: nothing was noted of it then."
    elif answer["verdict"] == "fewer":
        yield f"The turn ended before request {place} of {count} was made again."
    else:
        yield f"Request {place} of {count} differs (- as it stands in the record, + made again):"
        yield from answer["lines"] or ("What it was made of can't be told any more.",)
    if count and answer["verdict"] not in ("identical", "not_noted") and answer["attempts"] > 1:
        yield "The turn was taken up again after a crash, which is not played."


def _describe_memory_of_now(answer: Mapping[str, Any]) -> Iterator[str]:
    if answer["prompt"]:
        yield "With what is remembered now, the prompt would be another:"
        yield from answer["prompt"]
    else:
        yield "With what is remembered now, the prompt would be the same."
    if not answer["is_rest_same"]:
        yield "The messages of the turn can't be made again as they were; see without --memory."
