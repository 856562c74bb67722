"""The provider against the emulator: answers, cuts, errors, the cache."""

from aiohttp import web

from agent_core.transcript import Message, RawPart, user_message
from tests.agent_core.models.calls import calls, results
from tests.agent_core.models.providers import ANTHROPIC
from tests.agent_core.models.rig import Rig, connected
from tests.emulators.anthropic import AnthropicEmulator, render_events
from tests.emulators.streaming import Answer, text_answer

SYSTEM = "A rule that stands at the head of every call. " * 120
USAGE = {"input_tokens": 1, "output_tokens": 1}
CALL = {"type": "tool_use", "name": "memory", "input": {"text": 'likes tea, "green" ü'}}
TWO_CALLS = Answer(
    blocks=[
        {"type": "thinking", "thinking": "They told me something lasting."},
        {"type": "text", "text": "I keep that."},
        CALL,
        {"type": "tool_use", "name": "recall", "input": {}},
    ],
    stop="tool_use",
)


async def test_facts_and_words_are_blocks_of_their_own(rig: Rig) -> None:
    message = user_message("what day is it?", facts="<facts>Monday</facts>")
    text, _ = await rig.ask(message)
    blocks = rig.api.requests[0]["messages"][0]["content"]
    assert [block["text"] for block in blocks] == ["<facts>Monday</facts>", "what day is it?"]
    assert text == "echo: what day is it?"


async def test_a_refusal_names_its_category_and_may_be_empty(rig: Rig) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": None}
    rig.api.plan(Answer(blocks=[], stop="refusal", stop_details=details))
    text, answer = await rig.ask("hello")
    assert (text, answer.stop, answer.refusal) == ("", "refusal", "bio")
    assert answer.message.parts == ()


async def test_an_empty_answer_is_left_out_of_the_next_request(rig: Rig) -> None:
    rig.api.plan(Answer(blocks=[]))
    _, answer = await rig.ask("one")
    text, _ = await rig.ask("one", answer.message, "two")
    assert text == "echo: one | two"


async def test_a_paused_answer_is_sent_back_and_gone_on_with(rig: Rig) -> None:
    rig.api.plan(text_answer("working", stop="pause_turn"), text_answer("done"))
    _, paused = await rig.ask("go")
    assert paused.stop == "pause"
    text, _ = await rig.ask("go", paused.message)
    assert text == "done"
    assert rig.api.requests[1]["messages"][1]["role"] == "assistant"


async def test_thoughts_go_back_unchanged_to_the_model_that_had_them(rig: Rig) -> None:
    redacted = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    rig.api.plan(Answer(blocks=[redacted, *TWO_CALLS.blocks], stop="tool_use"))
    _, answer = await rig.ask("I like tea")
    raw = [part for part in answer.message.parts if isinstance(part, RawPart)]
    assert [(part.provider, part.model) for part in raw] == [("anthropic", "claude-sonnet-5-5")] * 2
    done = results(*((call.call_id, "ok") for call in answer.message.calls))

    # The emulator refuses a thought whose signature is not under its very words.
    await rig.ask("I like tea", answer.message, done)
    sent = rig.api.requests[-1]["messages"][1]["content"]
    assert [block["type"] for block in sent[:3]] == ["redacted_thinking", "thinking", "text"]
    assert sent[0] == redacted

    await rig.ask("I like tea", answer.message, done, model="claude-opus-5-5")
    kinds = [block["type"] for block in rig.api.requests[-1]["messages"][1]["content"]]
    assert kinds == ["text", "tool_use", "tool_use"]


async def test_a_thought_of_an_omitted_display_keeps_its_signature(rig: Rig) -> None:
    rig.api.plan(Answer(blocks=[{"type": "thinking", "thinking": ""}, CALL], stop="tool_use"))
    _, answer = await rig.ask("I like tea")
    done = results(*((call.call_id, "ok") for call in answer.message.calls))
    text, _ = await rig.ask("I like tea", answer.message, done)
    assert text == "echo: ok"


async def test_parallel_results_stand_in_one_message_before_a_steer(rig: Rig) -> None:
    asked = calls(("a", "memory", {"text": "x"}), ("b", "memory", {"text": "y"}), text="Moment.")
    await rig.ask("hi", asked, results(("a", "A"), ("b", "")), "and hurry")
    content = rig.api.requests[0]["messages"][2]["content"]
    assert [block["type"] for block in content] == ["tool_result", "tool_result", "text"]
    assert [block.get("tool_use_id") for block in content] == ["a", "b", None]


async def test_from_the_second_turn_on_nearly_all_is_read_from_the_cache(rig: Rig) -> None:
    messages: list[Message] = []
    shares = []
    for turn in range(6):
        messages.append(user_message(f"turn {turn}", facts=f"<facts>It is {turn} o'clock.</facts>"))
        _, answer = await rig.ask(*messages, system=SYSTEM)
        messages.append(answer.message)
        usage = answer.usage
        whole = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        shares.append(usage.cache_read_tokens / whole)
        assert usage.input_tokens == 0, "all of it is written for the next turn"
    assert shares[0] == 0
    assert min(shares[1:]) > 0.9


async def test_a_step_with_many_results_still_reads_what_was_written(rig: Rig) -> None:
    opening = user_message("do thirty things. " * 200)
    await rig.ask(opening, system=SYSTEM)
    asked = calls(*((f"c{number}", "memory", {"text": "x"}) for number in range(30)))
    done = results(*((f"c{number}", "ok") for number in range(30)))
    _, answer = await rig.ask(opening, asked, done, system=SYSTEM)
    usage = answer.usage
    # More than 20 blocks came since: only the second breakpoint finds the prefix.
    assert usage.cache_read_tokens > 0.9 * (1200 + 900)


async def test_after_five_minutes_the_cache_is_cold_unless_it_lasts_an_hour(rig: Rig) -> None:
    async with connected(ANTHROPIC, rig.api, cache_ttl="1h") as lasting:
        for one, is_read in ((rig, False), (lasting, True)):
            system = f"{is_read} {SYSTEM}"
            await one.ask("hello", system=system)
            rig.api.move(301)
            _, answer = await one.ask("hello", system=system)
            assert (answer.usage.cache_read_tokens > 0) is is_read


class MovedEmulator(AnthropicEmulator):
    """Sends calls below an old address to the present one."""

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith("/old/"):
            return web.Response(status=307, headers={"Location": request.path[len("/old") :]})
        return await super().respond(request)


async def test_a_call_follows_a_redirect() -> None:
    async with (
        MovedEmulator() as api,
        connected(ANTHROPIC, api, base_url=f"{api.url}/old") as rig,
    ):
        text, _ = await rig.ask("hello")
    assert (text, len(api.requests)) == ("echo: hello", 1)


class CompressedEmulator(AnthropicEmulator):
    """Compresses its streams, which the SDK accepts."""

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        whole = render_events(self.compose("claude-sonnet-5-5", text_answer("Grüße"), USAGE), 3)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        response.enable_compression(web.ContentCoding.gzip)
        await response.prepare(request)
        for event in whole:
            await response.write(event)
        await response.write_eof()
        return response


async def test_a_compressed_stream_is_read() -> None:
    async with CompressedEmulator() as api, connected(ANTHROPIC, api) as rig:
        text, _ = await rig.ask("hello")
    assert text == "Grüße"
