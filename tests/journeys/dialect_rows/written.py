"""Thoughts and calls that a model writes into its words, and what is left of its template.

Both APIs carry them, so each row is played over both.
"""

from collections.abc import Callable, Sequence

from tests.emulators.dialects import Wire
from tests.journeys.dialect_rows import COFFEE, GH, LOOKED, OWN, TEA, THOUGHT, TOLD, Row

CALL = f'{{"name": "recall", "arguments": {TEA}}}'
OTHER_CALL = f'{{"name": "recall", "arguments": {COFFEE}}}'
Say = Callable[..., Wire]
"""Makes the response of an API from pieces of words."""


def list_written(say: Say) -> Sequence[Row]:
    """Return the rows for one API."""

    def thinks(title: str, source: str, *pieces: str) -> Row:
        return Row(title, source, [say(*pieces)], TOLD, hidden=THOUGHT)

    def stays(title: str, source: str, text: str, said: str) -> Row:
        return Row(title, source, [say(*text.partition("think"))], said)

    def tells(title: str, source: str, *pieces: str) -> Row:
        return Row(title, source, [say(*pieces)], TOLD)

    def calls(title: str, source: str, *pieces: str, asked: Sequence[str] = ("tea",)) -> Row:
        return Row(title, source, [say(*pieces)], LOOKED, asked, hidden="recall")

    return [
        thinks(
            "a thought", GH + "aaif-goose/goose/pull/8635", f"<think>{THOUGHT}</think>It is tea."
        ),
        thinks(
            "a thought in pieces",
            GH + "nbramia/LifeOS/pull/568",
            "\n<thi",
            f"nk>\n{THOUGHT}\n</th",
            "ink>",
            "\n\nIt is tea.",
        ),
        thinks(
            "a thought in another mark",
            GH + "QwenLM/qwen-code/pull/8818",
            f"<thinking>{THOUGHT}</thinking>\nIt is tea.",
        ),
        thinks(
            "Magistral's marks",
            GH + "RooCodeInc/Roo-Code/issues/8522",
            f"[THINK]{THOUGHT}[/THINK]It is tea.",
        ),
        thinks(
            "MiniMax's marks",
            GH + "isaiah-harville/Primer/issues/109",
            f"<mm:think>{THOUGHT}</mm:think>\n\nIt is tea.",
        ),
        thinks(
            "Gemma's marks",
            GH + "NousResearch/hermes-agent/pull/48412",
            f"<|channel>thought\n{THOUGHT}\n<channel|>It is tea.",
        ),
        thinks(
            "harmony's channels",
            GH + "kekzl/imp/pull/768",
            f"<|channel|>analysis<|message|>{THOUGHT}<|end|>",
            "<|start|>assistant<|channel|>final<|message|>It is tea.",
        ),
        thinks(
            "harmony's channels in pieces",
            GH + "scouzi1966/maclocal-api/issues/121",
            "<|chan",
            "nel|>ana",
            f"lysis<|message|>{THOUGHT}<|e",
            "nd|><|start|>assist",
            "ant<|channel|>fin",
            "al<|message|>It is ",
            "tea.<|return|>",
        ),
        tells(
            "harmony's last channel only",
            GH + "tetherto/qvac/pull/2803",
            "<|channel|>final<|message|>It is tea.<|end|>",
        ),
        thinks(
            "harmony's channels without their marks",
            GH + "Augustas11/macprovider/issues/743",
            f"analysis{THOUGHT}",
            "assistantfinalIt is tea.",
        ),
        thinks(
            "only the end of a thought",
            GH + "perplexityai/api-discussion/issues/177",
            f"{THOUGHT}\n</think>\n\nIt is tea.",
        ),
        thinks(
            "only the end of a thought, once more",
            GH + "sgl-project/sglang/pull/26873",
            THOUGHT,
            "</thi",
            "nk>It is tea.",
        ),
        stays(
            "a mark in prose",
            GH + "nbramia/LifeOS/pull/568",
            "The mark <think> opens it and </think> closes it.",
            "The mark <think> opens it and </think> closes it.",
        ),
        stays(
            "a mark in code",
            GH + "ggml-org/llama.cpp/issues/27661",
            "Write it so:\n```\n<think>\nHm.\n</think>\nTea\n```",
            "<think>",
        ),
        stays(
            "a mark between backticks",
            GH + "nbramia/LifeOS/pull/568",
            "`<think>draft</think>` is the form.",
            "<think>draft</think>",
        ),
        stays(
            "the word analysis at the beginning",
            OWN,
            "analysis of tea: I think it is fine.",
            "analysis of tea",
        ),
        tells(
            "the end of a turn", GH + "deepseek-ai/DeepSeek-Coder/issues/136", "It is tea.<|EOT|>"
        ),
        tells(
            "the end of a turn, many times",
            GH + "deepseek-ai/DeepSeek-Coder/issues/136",
            "It is tea.\n",
            "<|EOT|>\n" * 3,
        ),
        tells("ChatML's end of a turn in pieces", OWN, "It is tea.<|im", "_end|>"),
        tells("Llama's end of a turn", OWN, "It is tea.<|eot_id|>"),
        tells("Gemma's end of a turn", OWN, "It is tea.<end_of_turn>\n"),
        tells(
            "the rest of a call of MiniMax",
            GH + "anomalyco/opencode/issues/30684",
            "It is tea.]<]minimax[>[</tool_call>",
        ),
        stays(
            "an end of a turn in prose",
            OWN,
            "The token <|im_end|> ends a turn, I think.",
            "The token <|im_end|> ends a turn, I think.",
        ),
        calls(
            "a call as text",
            GH + "vllm-project/vllm/issues/21571",
            f"<tool_call>\n{CALL}\n</tool_call>",
        ),
        calls(
            "a call as text in pieces",
            GH + "vllm-project/vllm/issues/27572",
            "I look. <",
            "tool",
            f"_call>{CALL}</tool_",
            "call>",
        ),
        calls(
            "two calls as text",
            GH + "vllm-project/vllm/issues/21571",
            f"<tool_call>{CALL}</tool_call>\n<tool_call>{OTHER_CALL}</tool_call>",
            asked=("tea", "coffee"),
        ),
        calls(
            "a call without its end", GH + "vllm-project/vllm/issues/21571", f"<tool_call>{CALL}"
        ),
        calls(
            "a call behind a thought",
            GH + "vllm-project/vllm/issues/21571",
            f"<think>{THOUGHT}</think>\n\n<tool_call>{CALL}</tool_call>",
        ),
        calls(
            "Qwen3-Coder's form",
            GH + "vllm-project/vllm/issues/22975",
            "<tool_call>\n<function=recall>\n<parameter=query>\ntea\n</parameter>\n</function>\n"
            "</tool_call>",
        ),
        calls(
            "Qwen3-Coder's form without its frame",
            GH + "vllm-project/vllm/issues/22975",
            "I look.\n<function=recall>\n<parameter=query>\ntea\n</parameter>\n</function>",
        ),
        calls(
            "Mistral's older form",
            GH + "ml-explore/mlx-lm/pull/874",
            f"[TOOL_CALLS][{CALL}]",
        ),
        calls(
            "Mistral's newer form",
            GH + "mistralai/mistral-vibe/issues/594",
            f"[TOOL_CALLS]recall[ARGS]{TEA}",
        ),
        calls(
            "Mistral's newer form, twice and in pieces",
            GH + "raullenchai/Rapid-MLX/issues/579",
            "[TOOL_",
            "CALLS]rec",
            f"all[ARGS]{TEA}[TOOL_CALLS]recall[A",
            f"RGS]{COFFEE}",
            asked=("tea", "coffee"),
        ),
        calls("bare JSON", GH + "ollama/ollama-vscode/pull/20", CALL),
        calls("fenced JSON", GH + "ollama/ollama/issues/13519", "```", f"json\n{CALL}\n```"),
        calls(
            "fenced JSON twice",
            OWN,
            f"```json\n{CALL}\n```\n\n```json\n{OTHER_CALL}\n```",
            asked=("tea", "coffee"),
        ),
        calls(
            "Llama's form",
            GH + "vllm-project/vllm/issues/46863",
            f'{{"type": "function", "name": "recall", "parameters": {TEA}}}',
        ),
        calls(
            "Llama's form within its marks",
            GH + "vllm-project/vllm/issues/16214",
            f'<|python_start|>{{"name": "recall", "parameters": {TEA}}}<|python_end|>',
        ),
        calls(
            "Llama's form behind its mark",
            GH + "ollama/ollama/issues/7824",
            f'<|python_tag|>{{"name": "recall", "parameters": {TEA}}}<|eom_id|>',
        ),
        calls("a call as Python", GH + "vllm-project/vllm/issues/22917", '[recall(query="tea")]'),
        calls(
            "two calls as Python in pieces",
            GH + "vllm-project/vllm/issues/22917",
            "[rec",
            'all(query="te',
            "a\"), recall(query='coffee')]",
            asked=("tea", "coffee"),
        ),
        calls(
            "Groq's form",
            GH + "langchain-ai/langchain/pull/31440",
            f"<function=recall>{TEA}</function>",
        ),
        calls(
            "GLM's form",
            GH + "waybarrios/vllm-mlx/pull/797",
            "<tool_call>recall\n<arg_key>query</arg_key>\n<arg_value>tea</arg_value>\n</tool_call>",
        ),
        calls(
            "GLM's form without line ends",
            GH + "osaurus-ai/vmlx-swift/pull/228",
            "<tool_call>recall<arg_key>query</arg_key><arg_value>tea</arg_value></tool_call>",
        ),
        calls(
            "MiniMax's form",
            GH + "earendil-works/pi/issues/368",
            '<minimax:tool_call>\n<invoke name="recall">\n<parameter name="query">tea</parameter>\n'
            "</invoke>\n</minimax:tool_call>",
        ),
        calls(
            "MiniMax's form twice, behind words",
            GH + "earendil-works/pi/issues/368",
            "I look.\n<minimax:tool",
            '_call>\n<invoke name="recall">\n<parameter name="query">tea</parameter>\n</invoke>\n'
            '<invoke name="recall"><parameter name="query">coffee</parameter></invoke>\n'
            "</minimax:tool_call>",
            asked=("tea", "coffee"),
        ),
        calls(
            "MiniMax's later form",
            GH + "MiniMax-AI/MiniMax-M3/issues/31",
            'I look.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="recall">]<]minimax[>['
            "<query>tea]<]minimax[>[</query>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
        ),
        calls(
            "an invocation in XML",
            GH + "can1357/oh-my-pi/issues/2759",
            '<function_calls>\n<invoke name="recall">\n<parameter name="query">tea</parameter>\n'
            "</invoke>\n</function_calls>",
        ),
        calls(
            "DeepSeek's form",
            GH + "TokenRhythm/opensquilla/issues/985",
            '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="recall">\n<｜DSML｜parameter name="query"'
            ' string="true">tea</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
        ),
        calls(
            "DeepSeek's form without its frame",
            GH + "sgl-project/sglang/issues/40236",
            'I look. <｜DSML｜invoke name="recall">\n<｜DSML｜parameter name="query"'
            ' string="true">tea'
            "</｜DSML｜parameter>\n</｜DSML｜invoke>",
        ),
        calls(
            "DeepSeek's form with other lines",
            GH + "CommandCodeAI/command-code/issues/909",
            "I look.\n\n<｜｜DSML｜｜ calls>\n",
            '<｜｜DSML｜｜ invoke name="recall">\n<｜｜DSML｜｜ parameter name="query"'
            ' string="true">tea'
            "</｜｜DSML｜｜ parameter>\n</｜｜DSML｜｜ invoke>\n</｜｜DSML｜｜ calls>",
        ),
        calls(
            "DeepSeek's form cut in its mark",
            GH + "lsdefine/GenericAgent/issues/804",
            "I look. <‖DS",
            'ML‖tool_calls><‖DSML‖invoke name="recall"><‖DSML‖parameter name="query">tea'
            "</‖DSML‖parameter></‖DSML‖invoke></‖DSML‖tool_calls>",
        ),
        calls(
            "Kimi's form",
            GH + "MoonshotAI/Kimi-K2/issues/89",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.recall:0"
            f"<|tool_call_argument_begin|>{TEA}<|tool_call_end|><|tool_calls_section_end|>",
        ),
        calls(
            "Kimi's form twice, with blanks",
            GH + "anomalyco/opencode/issues/8851",
            "I look. <|tool_calls_section_begin|> <|tool_call_begin|> functions.recall:0"
            f" <|tool_call_argument_begin|> {TEA} <|tool_call_end|> <|tool_call_begin|>"
            f" functions.recall:1 <|tool_call_argument_begin|> {COFFEE} <|tool_call_end|>"
            " <|tool_calls_section_end|>",
            asked=("tea", "coffee"),
        ),
        calls(
            "Gemma's form",
            GH + "NousResearch/hermes-agent/pull/48412",
            '<|tool_call>call:recall{query:<|"|>tea<|"|>}<tool_call|>',
        ),
        calls(
            "Gemma's form without its marks",
            GH + "Gitlawb/openclaude/pull/380",
            'call:recall{query:"tea"}',
        ),
        calls(
            "harmony's form",
            GH + "waybarrios/vllm-mlx/pull/50",
            "<|channel|>commentary to=functions.recall\n<|constrain|>json\n<|message|>",
            f"{TEA}\n<|call|>",
        ),
        calls(
            "harmony's form on the channel of thoughts",
            GH + "waybarrios/vllm-mlx/pull/562",
            f"<|channel|>analysis<|message|>{THOUGHT}\n<|end|><|start|>assistant<|channel|>analysis"
            f" to=functions.recall code<|message|>\n{TEA}<|call|>",
        ),
        Row(
            "JSON of an unknown tool",
            GH + "thClaws/thClaws/issues/50",
            [say('{"name": "Skill", "arguments": {"name": "none"}}')],
            "There is no tool",
        ),
        calls(
            "JSON between words",
            OWN,
            f"I look it up:\n```json\n{CALL}\n```\nand that is it.",
        ),
        stays("JSON that is no call", OWN, '{"tea": 1}', '{"tea": 1}'),
        stays(
            "a form in prose",
            GH + "Gitlawb/openclaude/pull/380",
            'I think that `call:recall{query:"tea"}` is how Gemma calls.',
            "is how Gemma calls",
        ),
        Row(
            "an invocation of an unknown tool",
            GH + "screenpipe/screenpipe/pull/7138",
            [say('<invoke name="think"><parameter name="query">tea</parameter></invoke>')],
            "There is no tool",
        ),
        stays("a list as Python", OWN, "[1, 2, 3] I think", "[1, 2, 3]"),
    ]
