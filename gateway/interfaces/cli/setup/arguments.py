"""The arguments of `talaria setup`, which `--help` and the completions need."""

from adapters.registry import list_declared
from agent_core.agent.prompt.persona import VOICES
from gateway.interfaces.parser import Parser

PARTS = ("model", *list_declared(), "profile")


def configure(parser: Parser) -> None:
    """Add the part to set up, and the options of `--non-interactive`."""
    parser.examples = (
        "talaria setup",
        "talaria setup telegram",
        "TELEGRAM_BOT_TOKEN=123:AAE... talaria setup --non-interactive --time-zone Europe/Vienna",
    )
    parser.add_argument(
        "part", nargs="?", choices=PARTS, metavar="PART", help=f"only this: {', '.join(PARTS)}"
    )
    parser.add_argument(
        "--non-interactive",
        action="store_true",
        help="ask nothing: check the keys and tokens of the environment, and save them",
    )
    given = parser.add_argument_group("with --non-interactive")
    given.add_argument("--provider", help="the provider of the model")
    given.add_argument("--model", help="the model's name")
    given.add_argument("--name", help="your name")
    given.add_argument("--time-zone", metavar="ZONE", help="your city or time zone")
    given.add_argument("--assistant", metavar="NAME", help="the assistant's name")
    given.add_argument(
        "--soul", choices=VOICES, metavar="VOICE", help=f"its character: {', '.join(VOICES)}"
    )
