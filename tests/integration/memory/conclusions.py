"""A review that keeps two claims, and conclusions from them."""

import json

from tests.fakes.model import Play, ask, call

SAID = "I get up at five. I swim before work"
KEPT = (("Gets up at five", "I get up at five"), ("Swims before work", "I swim before work"))
REVIEW = ask(
    *(
        call(
            "memory",
            json.dumps({"section": "person", "text": text, "message": 1, "quote": quote}),
            f"c{place}",
        )
        for place, (text, quote) in enumerate(KEPT)
    )
)


def conclude(text: str, *premises: int, confidence: int = 70) -> Play:
    given = {"text": text, "confidence": confidence, "premises": premises}
    return ask(call("conclude", json.dumps(given)))
