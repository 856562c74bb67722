"""Keys and tokens of thirty and more kinds are known by their shape; plain words are not."""

import base64
import re
import string
from urllib.parse import quote

import pytest

from agent_core.tools.secret_scan import SecretMask, find_secret
from tests.tables import check_each

LETTERS = string.ascii_letters + string.digits


def some(length: int, letters: str = LETTERS) -> str:
    """Letters in an order that is nobody's key."""
    return "".join(letters[(7 * place + 3) % len(letters)] for place in range(length))


HEX, UPPER = string.hexdigits[:16], string.ascii_uppercase + "234567"
DASHES = "-" * 5  # so that no reader of this file takes it for a key

SECRETS = {
    "rsa": f"{DASHES}BEGIN RSA PRIVATE KEY{DASHES}",
    "openssh": f"{DASHES}BEGIN OPENSSH PRIVATE KEY{DASHES}",
    "pkcs8": f"{DASHES}BEGIN PRIVATE KEY{DASHES}",
    "pgp": f"{DASHES}BEGIN PGP PRIVATE KEY BLOCK{DASHES}",
    "putty": "PuTTY-User-Key-File-3: ssh-ed25519",
    "age": f"AGE-SECRET-KEY-1{some(58, UPPER)}",
    "anthropic": f"sk-ant-api03-{some(40)}",
    "openrouter": f"sk-or-v1-{some(64, HEX)}",
    "openai": f"sk-proj-{some(48)}",
    "openai, old": f"sk-{some(48)}",
    "stripe": f"sk_live_{some(24)}",
    "stripe, restricted": f"rk_test_{some(24)}",
    "stripe, webhook": f"whsec_{some(32)}",
    "github": f"ghp_{some(36)}",
    "github, fine": f"github_pat_{some(82)}",
    "gitlab": f"glpat-{some(20)}",
    "slack, bot": f"xoxb-{some(12, string.digits)}-{some(24)}",
    "slack, app": f"xapp-1-{some(10)}-{some(20)}",
    "slack, webhook": f"https://hooks.slack.com/services/T{some(8)}/B{some(8)}/{some(24)}",
    "discord, webhook": f"https://discord.com/api/webhooks/{some(18, '123')}/{some(68)}",
    "discord": f"M{some(23)}.{some(6)}.{some(38)}",
    "telegram": f"{some(10, '123456789')}:{some(35)}",
    "aws": f"AKIA{some(16, UPPER)}",
    "aws, secret": f"aws_secret_access_key = {some(40)}",
    "google": f"AIza{some(35)}",
    "google, oauth": f"GOCSPX-{some(28)}",
    "google, access": f"ya29.{some(40)}",
    "azure": f"AccountKey={some(86)}==",
    "hugging face": f"hf_{some(34)}",
    "groq": f"gsk_{some(52)}",
    "xai": f"xai-{some(80)}",
    "replicate": f"r8_{some(37)}",
    "tavily": f"tvly-dev-{some(32)}",
    "brave": f"BSA{some(28)}",
    "perplexity": f"pplx-{some(48)}",
    "npm": f"npm_{some(36)}",
    "pypi": f"pypi-AgE{some(60)}",
    "sendgrid": f"SG.{some(22)}.{some(43)}",
    "mailgun": f"key-{some(32, HEX)}",
    "twilio": f"SK{some(32, HEX)}",
    "shopify": f"shpat_{some(32, HEX)}",
    "digitalocean": f"dop_v1_{some(64, HEX)}",
    "linear": f"lin_api_{some(40)}",
    "notion": f"ntn_{some(46)}",
    "tailscale": f"tskey-auth-{some(12)}-{some(32)}",
    "vault": f"hvs.{some(40)}",
    "jwt": f"eyJ{some(20)}.eyJ{some(40)}.{some(43)}",
    "postgres": "postgres://admin:hunter22@db.example.org/app",
    "bearer": f"Authorization: Bearer {some(40)}",
}
INNOCENT = (
    "Daughter Mia, born 2019, allergic to nuts",
    "Phone +43 660 1234567, call after 14:00",
    "The flat is at Hauptstraße 12, door code is with Ben",
    "Order 302-1234567-1234567, due 2026-03-04T09:30:00Z",
    "Uses the sk-learn library, and task-runner",
    "Commit 3f2a9c1d0b7e4a5f6c8d9e0f1a2b3c4d5e6f7a8b broke it",
    "https://example.org/a/very/long/path?with=many&words=in-it",
    "Writes to ann@example.org; repository git@github.com:ann/house.git",
    "ISBN 978-3-16-148410-0, IBAN AT61 1904 3002 3457 3201",
    "UUID 123e4567-e89b-12d3-a456-426614174000",
    "Password hints: never kept here",
    "Meets at 12:30:45:59 in room AKIA",
    "eyJ is how such a token begins",
)


@pytest.mark.parametrize("frame", ["{}", "My key is {}, keep it", "token={}\nand more", "«{}»"])
def test_a_secret_is_found_wherever_it_stands(frame: str) -> None:
    assert [name for name in SECRETS if not find_secret(frame.format(SECRETS[name]))] == []


def test_there_are_thirty_kinds_and_more() -> None:
    assert len({find_secret(text) for text in SECRETS.values()}) >= 30


@pytest.mark.parametrize("text", INNOCENT)
def test_what_people_tell_is_no_secret(text: str) -> None:
    assert find_secret(text) is None


def test_a_kind_is_named_with_its_article() -> None:
    assert find_secret(SECRETS["anthropic"]) == "an Anthropic key"
    assert find_secret(SECRETS["github"]) == "a GitHub token"


EXAMPLES = ("postgres", "bearer")
KNOWN = "7654321:not-a-usual/token+at=all"


@pytest.mark.parametrize("frame", ["{}", "My key is {}, keep it", "token={}\nand more", "«{}»"])
def test_a_secret_of_a_known_shape_is_masked(frame: str) -> None:
    def check(name: str) -> None:
        shown = SecretMask().hide(frame.format(SECRETS[name]))
        assert "[hidden]" in shown
        assert find_secret(shown) is None or name == "putty"

    check_each([name for name in SECRETS if not name.startswith(EXAMPLES)], check)


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert SecretMask([KNOWN]).hide(text) == text


def test_the_body_of_a_key_goes_with_its_first_line() -> None:
    body = f"{SECRETS['rsa']}\n{some(64)}\n{some(30)}\n{DASHES}END RSA PRIVATE KEY{DASHES}"
    assert SecretMask().hide(f"Here:\n{body}\nThat was it.") == "Here:\n[hidden]\nThat was it."
    assert SecretMask().hide(f"Here:\n{body[:60]}") == "Here:\n[hidden]"


def lower_escapes(text: str) -> str:
    return re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quote(text, safe=""))


@pytest.mark.parametrize("frame", ["{}", "x{}", "xy{}", "It is {} today", "a\n{}\nb"])
def test_an_own_credential_is_masked_in_each_encoding(frame: str) -> None:
    mask = SecretMask([KNOWN])
    whole = frame.format(KNOWN)
    assert KNOWN not in mask.hide(whole)
    assert "[hidden]" in mask.hide(frame.format(quote(KNOWN, safe="")))
    for coded in (KNOWN.encode().hex(), KNOWN.encode().hex().upper(), lower_escapes(f"{KNOWN}/+")):
        assert "[hidden]" in SecretMask([KNOWN, f"{KNOWN}/+"]).hide(frame.format(coded))
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        shown = mask.hide(encode(whole.encode()).decode())
        assert "[hidden]" in shown
        assert len(shown) < len(frame) * 2 + 20


def test_a_growing_text_never_shows_more_than_the_beginning_of_a_secret() -> None:
    mask = SecretMask([KNOWN])
    shown = [
        mask.hide_growing(f"The token is {KNOWN[:length]}") for length in range(1, len(KNOWN) + 1)
    ]
    assert [text for text in shown if KNOWN[:12] in text] == []


@pytest.mark.parametrize("secret", [KNOWN, "hunter2", "S3cr3t!P@$$w0rd", "two words\nin lines"])
@pytest.mark.parametrize("frame", ["It is {}", "{}", "It is {}."])
def test_a_growing_text_shows_no_part_of_a_known_secret(secret: str, frame: str) -> None:
    mask, whole = SecretMask([secret]), frame.format(secret)
    begun = frame.partition("{")[0]
    for length in range(len(begun) + 1, len(whole) + 1):
        shown = mask.hide_growing(whole[:length])
        assert shown.startswith(begun)
        assert not set(shown.removeprefix(begun).replace("[hidden]", "")) - set(".")


def test_masking_twice_changes_nothing() -> None:
    mask = SecretMask([KNOWN])
    once = mask.hide(f"{KNOWN} and {SECRETS['github']}")
    assert once == "[hidden] and [hidden]"
    assert mask.hide(once) == once
