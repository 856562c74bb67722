"""The patterns of a scan: passages that a person should read before they install a skill."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.skills.install.contract import InstallSourceKind, Severity

FlawPlace = Literal["script", "text", "any"]


@dataclass(frozen=True, slots=True)
class ScanRule:
    """A pattern, and the files that it applies to. Patterns have no unbounded wildcard."""

    kind: InstallSourceKind
    severity: Severity
    place: FlawPlace
    what: str
    pattern: re.Pattern[str]


def _rule(
    kind: InstallSourceKind, severity: Severity, place: FlawPlace, what: str, pattern: str
) -> ScanRule:
    return ScanRule(kind, severity, place, what, re.compile(pattern, re.IGNORECASE | re.MULTILINE))


_REST = r"[^\n]{0,200}"
_FETCH = r"\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b"
_ORDER = r"(?:instructions?|prompts?|rules?|directives?|guidelines?|messages?)"

RULES: Sequence[ScanRule] = (
    _rule(
        "shell",
        "danger",
        "any",
        "runs what it downloads",
        _FETCH + _REST + r"\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b"
        r"|\b(?:ba|z)?sh\s+(?:-c\s+[\"']?\$\(|<\()\s*"
        + _FETCH
        + r"|\beval\s+[\"']?\$\(\s*"
        + _FETCH,
    ),
    _rule(
        "shell",
        "danger",
        "any",
        "deletes a home or root folder",
        r"\brm\s+(?:-[a-z-]+\s+){1,4}[\"']?(?:/|(?:~|\$HOME|\$\{HOME\})/?)[\"']?\*?(?:\s|$|[;&|\"'`])",
    ),
    _rule(
        "shell",
        "danger",
        "any",
        "opens a shell to another computer",
        r"/dev/(?:tcp|udp)/|\bnc(?:at)?\s+-[a-z]{0,6}e\b|\bmkfifo\b" + _REST + r"\bnc\b",
    ),
    _rule(
        "shell",
        "danger",
        "any",
        "changes what starts on this computer",
        r"(?:>>?|\btee\s+(?:-a\s+)?)\s*[\"']?(?:~|\$HOME)/\.(?:bashrc|zshrc|profile|bash_profile)"
        r"|\bcrontab\s+-(?!l\b)|\bsystemctl\s+enable\b|/etc/(?:cron|rc\.local|systemd)"
        r"|\blaunchctl\s+load\b|authorized_keys",
    ),
    _rule("shell", "caution", "script", "asks for administrator rights", r"\bsudo\b|\bdoas\b"),
    _rule(
        "shell",
        "caution",
        "script",
        "starts other programs",
        r"\bsubprocess\.|\bos\.(?:system|popen|exec[lv]\w*|spawn\w*)\s*\(|\bchild_process\b"
        r"|\bexecSync\s*\(|\bRuntime\.getRuntime\(\)|\bpty\.spawn\b|\bKernel\.system\b",
    ),
    _rule(
        "shell",
        "caution",
        "any",
        "installs packages",
        r"\b(?:pip3?|pipx|npm|pnpm|yarn|brew|apt(?:-get)?|cargo|gem|go)\s+(?:install|add)\b"
        r"|\bnpx\s+(?:-y|--yes)\b|\buvx\s+\w",
    ),
    _rule("shell", "caution", "script", "deletes folders", r"\brm\s+-[a-z]*r|\brmtree\s*\("),
    _rule(
        "network",
        "danger",
        "any",
        "sends files or variables to another computer",
        _FETCH
        + _REST
        + r"(?:\$\((?:cat|env|printenv|base64)|@(?:~|/|\$HOME|\.env)|`(?:cat|env)\b)",
    ),
    _rule(
        "network",
        "caution",
        "any",
        "uses the network",
        r"\b(?:curl|wget|ncat|scp|sftp)\s+[-\"'$\w]|\brequests\.(?:get|post|put|request|Session)\b"
        r"|\burllib\.request\b|\bhttpx\.|\baiohttp\.|\bhttp\.client\b|\bsocket\.(?:socket|create_)"
        r"|\bfetch\s*\(\s*[\"'`]https?:|\baxios[.(]|\bXMLHttpRequest\b|\bnew\s+WebSocket\b"
        r"|\bInvoke-WebRequest\b|\bsmtplib\b|\bparamiko\b",
    ),
    _rule(
        "secrets",
        "danger",
        "any",
        "reads keys or passwords of this computer",
        r"(?:~|\$HOME|/home/\w+|/root|expanduser\([\"']~)/?[\"']?,?\s{0,2}[\"']?/?\.(?:ssh|aws|gnupg|netrc"
        r"|kube|docker/config|config/gcloud|git-credentials|talaria)\b|\bid_(?:rsa|ed25519|ecdsa)\b"
        r"|/etc/(?:shadow|sudoers)\b|\bsecurity\s+find-(?:generic|internet)-password\b"
        r"|\bsecret-tool\s+lookup\b|\.(?:talaria|hermes|openclaw)/(?:\.env|state\.db|config)",
    ),
    _rule(
        "secrets",
        "caution",
        "script",
        "reads environment variables",
        r"\bos\.environ\b|\bos\.getenv\b|\bprocess\.env\b|\bprintenv\b|\bENV\[",
    ),
    _rule(
        "secrets",
        "caution",
        "any",
        "reads a .env file",
        r"(?:\bcat|\bsource|load_dotenv\(|open\()\s*[\"']?[\w./~]{0,60}\.env\b",
    ),
    _rule(
        "obfuscation",
        "danger",
        "any",
        "decodes text and runs it",
        r"\bbase64\s+(?:-d|-D|--decode)\b" + _REST + r"\|\s*(?:ba|z)?sh\b"
        r"|\b(?:exec|eval)\s*\(\s*(?:compile\s*\(\s*)?(?:\w+\.){0,3}(?:b64decode|decodebytes|a85decode"
        r"|b32decode|unhexlify|fromhex|decompress|loads|atob|unescape)\s*\("
        r"|\bxxd\s+-r\b" + _REST + r"\|\s*(?:ba)?sh\b|-enc(?:odedcommand)?\s+[A-Za-z0-9+/=]{40}",
    ),
    _rule(
        "obfuscation",
        "caution",
        "script",
        "runs text as code",
        r"(?<![\w.])(?:eval|exec)\s*\(|\bnew\s+Function\s*\(|\b__import__\s*\(|\bmarshal\.loads\b"
        r"|\bpickle\.loads?\b",
    ),
    _rule(
        "obfuscation",
        "caution",
        "any",
        "contains long encoded text",
        r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{240}|(?:\\x[0-9a-f]{2}){16}|(?:\\u[0-9a-f]{4}){16}",
    ),
    _rule(
        "injection",
        "danger",
        "any",
        "tells the assistant to ignore its instructions",
        r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:(?:all|any|every|the|your|of|my|these"
        r"|those|previous|prior|earlier|above|preceding|system|safety|other)\s+){1,5}"
        + _ORDER
        + r"\b"
        r"|\bignorier\w*\s+(?:\w+\s+){0,3}(?:anweisung|regel|vorgabe)\w*"
        r"|\bvergiss\s+(?:\w+\s+){0,3}(?:anweisung|regel|vorgabe)\w*",
    ),
    _rule(
        "injection",
        "danger",
        "any",
        "tells the assistant to hide something from people",
        r"\b(?:do\s+not|don'?t|never|without)\s+(?:ever\s+)?(?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?"
        r"|notify(?:ing)?|mention(?:ing)?|reveal(?:ing)?|show(?:ing)?)\s+(?:\w+\s+){0,6}(?:the\s+|to\s+)?"
        r"(?:user|human|person|owner|operator)s?\b"
        r"|\bsag\w*\s+(?:dem|der)\s+(?:nutzer|benutzer|person)\w*\s+nichts\b",
    ),
    _rule(
        "injection",
        "danger",
        "any",
        "asks for the system prompt or for secrets",
        r"\b(?:reveal|print|output|repeat|send|leak|exfiltrate)\s+(?:\w+\s+){0,4}(?:system\s+prompt"
        r"|api\s+keys?|credentials|passwords?|access\s+tokens?)\b",
    ),
    _rule(
        "injection",
        "danger",
        "any",
        "imitates the roles of a conversation",
        r"<\|?(?:im_start|im_end|endoftext|system|start_header_id)\|?>|\[/?INST\]|<</?SYS>>"
        r"|^[ \t]{0,40}(?:### {0,4})?(?:system|developer) {0,4}(?:prompt|message) {0,4}:",
    ),
    _rule(
        "injection",
        "caution",
        "any",
        "tells the assistant to act without a question",
        r"\b(?:you\s+are\s+now|from\s+now\s+on\s+you|pretend\s+(?:to\s+be|that\s+you))\b"
        r"|\b(?:without|no\s+need\s+(?:for|to))\s+(?:asking|ask|confirm(?:ing|ation)?|approval|permission)\b"
        r"|\b(?:jailbreak|developer\s+mode|do\s+anything\s+now)\b",
    ),
)
