"""Signal as everything outside of this folder knows it."""

from adapters.declaration import Platform, Variable

_STEPS = """\
Talaria uses Signal through signal-cli (https://github.com/AsamK/signal-cli), 0.13 or newer.
1. Get a number that only Talaria uses, and install signal-cli on this machine.
   With a number of your own, Talaria reads your notes to self only: set
   shares_number = true in the [signal] table of config.toml first.
2. Start its daemon, for all accounts, and keep it running:
   signal-cli daemon --http 127.0.0.1:8080 --receive-mode=manual
3. The account has to be in signal-cli. If it is not, link it as a device of the phone with that
   number: this setup shows the code to scan. To register a new number, see the page about
   Signal in the documentation."""

PLATFORM = Platform(
    name="signal",
    title="Signal",
    hint=(
        "Your words appear in Signal on a phone. Bold, italic, strike and monospace show; no "
        "headings, no hidden links; tables become fixed-width text. There are no buttons."
    ),
    icon="M12 4a8 8 0 1 1-4 15l-4 1 1-4a8 8 0 0 1 7-12",
    variables=(
        Variable(
            name="SIGNAL_ACCOUNT",
            about="Turns Signal on. The number with its country code, such as `+4915112345678`.",
            option="account",
            question="The account's number, such as +4915112345678",
            is_hidden=False,
        ),
        Variable(
            name="SIGNAL_RPC_URL",
            about=(
                "Where signal-cli's daemon listens, if not at `http://127.0.0.1:8080`. Also"
                " `tcp://HOST:PORT` or `unix:///PATH`."
            ),
            option="rpc_url",
        ),
    ),
    needs=lambda _: ("SIGNAL_ACCOUNT",),
    steps=_STEPS,
    hello="people reach Talaria at {name}: {link}",
    on_machine=r"signal\.shares_number",
)
