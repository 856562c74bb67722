"""Strategies that make Markdown: mostly sensible, sometimes wild."""

from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        "word", "שלום", "مرحبا", "数字", "e\u0301", "👩‍👩‍👧", "🇩🇪", "👍🏽", "\u200b", "x" * 70,
        "1.", "a_b_c",
        "**bold**", "*it*", "~~no~~", "`code`", "``a`b``", "[text](https://example.com/a)",
        "[rel](docs/ü x)", "![alt](https://e.org/i.png)", "<https://e.org>", "<b>",
        "&amp;", "&#65;",
        "\\*", "*", "**", "`", "[", "](", "|", "~", "\t", "\x00", "\ud800", "\x1b", "_", "***",
    ]
)  # fmt: skip
STARTS = st.sampled_from(
    [
        "", "", "", "# ", "###### ", "> ", "> > ", "- ", "  - ", "    - ", "1. ", "7) ", "   ",
        "    ", "\t", "- [ ] ", "```", "```python\n", "~~~\n", "   ```js\n", "> ```\n",
        "---\n", "===\n",
        "| a | b |\n|---|:-:|\n| ", "|", "\n", "\r\n", "- - - ", "[note]: ", "- ```sh\n",
    ]
)  # fmt: skip
LINES = st.builds(
    lambda start, words, gap: start + gap.join(words),
    STARTS,
    st.lists(WORDS, max_size=8),
    st.sampled_from([" ", " ", "", "  "]),
)
MARKDOWN = st.lists(LINES, max_size=14).map("\n".join)
"""Texts in which every construct meets every other."""
