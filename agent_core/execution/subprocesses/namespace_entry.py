"""A separate program that enters the network of a running sandbox, and becomes another program.

The words are the descriptor of the network namespace, and the program with its arguments. That
program is bubblewrap, which gives its command no right in the namespace.
"""

import os
import sys

from agent_core.execution.subprocesses.namespace_listener import enter


def main(words: list[str]) -> int:
    """Enter the namespace and execute the program; return only if that fails."""
    namespace = int(words[0])
    try:
        enter(namespace)
        os.close(namespace)
        os.execv(words[1], words[1:])  # noqa: S606 - no shell
    except OSError as error:
        os.write(2, (error.strerror or "it gives no reason").encode())
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
