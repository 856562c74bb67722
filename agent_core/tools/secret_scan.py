"""Find keys, tokens and other secrets in a text before it is saved."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Shape:
    """The pattern and the name of one kind of secret."""

    name: str
    pattern: str


_SHAPES = (
    _Shape("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    _Shape("a PuTTY private key", r"PuTTY-User-Key-File-[0-9]+:"),
    _Shape("an age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _Shape("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    _Shape("an OpenRouter key", r"\bsk-or-v1-[0-9a-f]{32,}"),
    _Shape("an OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}"),
    _Shape("a Stripe key", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    _Shape("a Stripe webhook secret", r"\bwhsec_[A-Za-z0-9+/=]{24,}"),
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
        "a JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    ),
    _Shape("an address with a password", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]+:[^\s/:@]{3,}@"),
    _Shape(
        "an authorization header", r"(?i:authorization\s*:\s*(?:bearer|basic)\s+)[\w.~+/=-]{16,}"
    ),
)
_ANY = re.compile("|".join(f"(?P<s{n}>{shape.pattern})" for n, shape in enumerate(_SHAPES)))


def find_secret(text: str) -> str | None:
    """The kind of secret in a text, with its article, or None.

    Knows only unambiguous patterns: a plain password is not found.
    """
    found = _ANY.search(text)
    return _SHAPES[int((found.lastgroup or "s0")[1:])].name if found else None
