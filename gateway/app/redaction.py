"""Recognise tokens and keys by their form, and mask them."""

import re

from adapters.registry import list_declared

_SECRET_FORMS = re.compile(
    "|".join(form for platform in list_declared().values() for form in platform.secret_forms)
    + r"|\bsk-ant-[A-Za-z0-9_-]{4,}|\bsk-[A-Za-z0-9_-]{16,}"  # Anthropic, OpenAI
    r"|gh[opsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"  # GitHub
    r"|\bwhsec_[A-Za-z0-9+/=]{24,}"  # webhooks
)


def looks_secret(value: object) -> bool:
    """Return whether a text has the form of a known kind of token or key."""
    return isinstance(value, str) and _SECRET_FORMS.search(value) is not None


def hide_secrets(text: str) -> str:
    """Mask everything in a text that has the form of a known kind of token or key."""
    return _SECRET_FORMS.sub("[hidden]", text)
