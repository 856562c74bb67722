"""Find keys, tokens and other secrets in a text, and mask them."""

import json
import re
import string
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class _Shape:
    """The pattern and the name of one kind of secret."""

    name: str
    pattern: str


_SHAPES = (
    _Shape("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    _Shape("a PuTTY private key", r"PuTTY-User-Key-File-[0-9]+:"),
    _Shape("an age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _Shape("a console token", r"\btalaria_[A-Za-z0-9_-]{43}"),
    _Shape("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    _Shape("an OpenRouter key", r"\bsk-or-v1-[0-9a-f]{32,}"),
    _Shape("an OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}"),
    _Shape("a Stripe key", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    _Shape("a webhook secret", r"\bwhsec_[A-Za-z0-9+/=]{24,}"),
    _Shape("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})"),
    _Shape("a GitLab token", r"\bgl(?:pat|dt|rt|ptt|oas|soat)-[A-Za-z0-9_-]{20,}"),
    _Shape("a Slack token", r"\b(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})"),
    _Shape("a Slack webhook", r"\bhooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,}"),
    _Shape("a Discord webhook", r"\bdiscord(?:app)?\.com/api/webhooks/[0-9]{15,}/[\w-]{40,}"),
    _Shape("a Discord token", r"\b[MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,}"),
    _Shape("a Telegram token", r"\b[0-9]{8,10}:[A-Za-z0-9_-]{35}"),
    _Shape("an AWS key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    _Shape(
        "an AWS secret key",
        r"(?i:aws_?(?:secret)?_?(?:access)?_?key)\s*[:=]\s*['\"]?[A-Za-z0-9/+=]{40}",
    ),
    _Shape("a Google key", r"\bAIza[A-Za-z0-9_-]{35}"),
    _Shape("a Google OAuth secret", r"\b(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{20,})"),
    _Shape("an Azure storage key", r"\bAccountKey=[A-Za-z0-9+/]{80,}={0,2}"),
    _Shape("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    _Shape("a Groq, xAI or Replicate key", r"\b(?:gsk_|xai-|r8_)[A-Za-z0-9]{32,}"),
    _Shape("a Tavily key", r"\btvly-[A-Za-z0-9_-]{20,}"),
    _Shape("a Brave key", r"\bBSA[A-Za-z0-9_-]{28}\b"),
    _Shape("a Perplexity key", r"\bpplx-[A-Za-z0-9]{40,}"),
    _Shape("an npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    _Shape("a PyPI token", r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    _Shape("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _Shape("a Mailgun key", r"\bkey-[0-9a-f]{32}\b"),
    _Shape("a Twilio key", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    _Shape("a Shopify token", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _Shape("a DigitalOcean token", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    _Shape("a Linear or Notion key", r"\b(?:lin_api_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{40,})"),
    _Shape("a Tailscale key", r"\btskey-[a-z]+-[A-Za-z0-9-]{20,}"),
    _Shape("a Vault token", r"\bhv[bsr]\.[A-Za-z0-9_-]{24,}"),
    _Shape(
        "a JSON web token",
        # Bounded, because each `-eyJ` of a long run would read the whole run again.
        r"\beyJ[A-Za-z0-9_-]{10,2000}+\.eyJ[A-Za-z0-9_-]{10,20000}+\.[A-Za-z0-9_-]{10,}",
    ),
    _Shape("an address with a password", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]+:[^\s/:@]{3,}@"),
    _Shape(
        "an authorization header", r"(?i:authorization\s*:\s*(?:bearer|basic)\s+)[\w.~+/=-]{16,}"
    ),
)
_ANY = re.compile("|".join(f"(?P<s{n}>{shape.pattern})" for n, shape in enumerate(_SHAPES)))


def find_secret(text: str) -> str | None:
    """The kind of secret in a text, with its article, or None.

    Knows only unambiguous patterns: it does not find a plain password.
    """
    found = _ANY.search(text)
    return _SHAPES[int((found.lastgroup or "s0")[1:])].name if found else None


HIDDEN = "[hidden]"
"""The replacement for a secret."""

_SHORTEST_KNOWN = 6
"""Shorter secrets are not masked: that would hide ordinary words, and real tokens are longer."""
_ENCODED_FROM = 12
"""Characters from which on a secret is so long that its encoded forms are no ordinary text."""
_KEY_BLOCK = "-----BEGIN"
_EXAMPLES = ("an address with a password", "an authorization header")
"""Kinds that answers often show with a placeholder, as in `user:password@host`."""
_WORD = re.compile(r"\S{15,}")
"""Candidates for secrets: the shortest pattern has 15 characters, and trying all of them everywhere
is slow.
"""
_FIRM = [shape.pattern for shape in _SHAPES if shape.name not in _EXAMPLES]
_AT_WORDS = [pattern.removeprefix(r"\b") for pattern in _FIRM if pattern.startswith(r"\b")]
"""Patterns that begin at a word boundary. Checking the boundary once for all of them is ten times
as fast.
"""
_SHAPED = re.compile(
    "(?:"
    + "|".join(pattern for pattern in _FIRM if not pattern.startswith(r"\b"))
    + rf"|\b(?:{'|'.join(_AT_WORDS)}))[A-Za-z0-9_-]*"  # a pattern may give only a minimum length
)
_SPACED = re.compile(
    "|".join(
        (
            rf"(?s:{_SHAPES[0].pattern}(?:.*?-----END [A-Z0-9 ]+-----|.*))",
            next(shape.pattern for shape in _SHAPES if shape.name == "an AWS secret key"),
        )
    )
)
"""Secrets that contain white space."""
_ESCAPE = re.compile(r"%[0-9A-F]{2}")
_UNFINISHED = f"{string.ascii_letters}{string.digits}_.:/+=~-"
"""The characters of a token that may not be complete yet."""


class SecretMask:
    """Masks known credentials, and anything like one, in texts that leave or are stored."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        """`known` are the credentials of this installation."""
        forms = {
            form
            for text in known
            if len(text) >= _SHORTEST_KNOWN
            for part in (text, *_list_lines(text))
            for form in _list_forms(part)
        }
        # The longest first: one secret may be the beginning of another.
        self.forms: Sequence[str] = sorted(forms, key=len, reverse=True)
        """The known credentials in every form in which they are masked, the longest first."""

    @classmethod
    def of(cls, forms: Sequence[str]) -> "SecretMask":
        """Return a mask with the `forms` of another one."""
        mask = cls()
        mask.forms = forms
        return mask

    def hide(self, text: str) -> str:
        """Replace every secret in a text, in time that grows with its length only.

        Most texts take some microseconds, and a megabyte a tenth of a second: a text that others
        made and that has no limit is for `TextCleaner`.
        """
        for form in self.forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        if "\n" in text:
            text = self._hide_wrapped(text)
        text = _WORD.sub(lambda found: _SHAPED.sub(HIDDEN, found[0]), text)
        return _SPACED.sub(HIDDEN, text) if _KEY_BLOCK in text or "aws" in text.lower() else text

    def _hide_wrapped(self, text: str) -> str:
        """Replace secrets that are split over several lines, as in the output of `base64`."""
        joined = _join_lines(text)
        for form in self.forms:
            bare = _join_lines(form)
            if len(bare) >= _ENCODED_FROM and bare in joined:
                text = re.sub(r"[\r\n]*".join(map(re.escape, bare)), HIDDEN, text)
        return text

    def hide_growing(self, text: str, *, most: int | None = None) -> str:
        """Hide secrets in an incomplete text, and leave out an end that may begin a secret.

        That is the beginning of a known secret, and a long last word: it may become a token. At
        most the last `most` characters of a word are left out.
        """
        text = self._cut_begun(self.hide(text))
        unfinished = len(text) - len(text.rstrip(_UNFINISHED))
        if unfinished < _ENCODED_FROM:
            return text
        return text[: len(text) - min(unfinished, most or unfinished)]

    def _cut_begun(self, text: str) -> str:
        """Cut the beginning of a known secret off the end of a text."""
        end = len(text)
        for form in self.forms:
            at = text.find(form[0], max(len(text) - len(form) + 1, 0))
            while at != -1 and not form.startswith(text[at:]):
                at = text.find(form[0], at + 1)
            end = min(end, at) if at != -1 else end
        return text[:end]


def _join_lines(text: str) -> str:
    return text.replace("\n", "").replace("\r", "")


def _list_lines(secret: str) -> Iterator[str]:
    """List the long lines of a secret that has several lines, such as a key."""
    lines = secret.splitlines()
    if len(lines) > 1:
        yield from (line for line in lines if len(line) >= _ENCODED_FROM)


def _list_forms(secret: str) -> Iterator[str]:
    """List a secret's forms: unchanged, in JSON, in a URL, in hexadecimal, and within Base64."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    if len(secret) < _ENCODED_FROM:
        return
    for coded in (quote(secret), quote(secret, safe="")):
        yield coded
        yield _ESCAPE.sub(lambda found: found[0].lower(), coded)
    yield secret.encode().hex()
    yield secret.encode().hex().upper()
    for offset in range(3):  # Base64 depends on the position in a group of 3 bytes
        coded = b64encode(b"\0" * offset + secret.encode()).decode()
        inside = coded[(offset * 8 + 5) // 6 : (offset + len(secret.encode())) // 3 * 4]
        yield inside
        yield inside.translate(str.maketrans("+/", "-_"))
