"""Let the process at a socket connect to the address that comes last; exit as it says.

The suite starts one client per scenario, and each would import Talaria.
"""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as channel:
    channel.connect(sys.argv[1])
    given = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    channel.sendall(json.dumps([sys.argv[-1], given]).encode() + b"\n")
    sys.exit(int(channel.makefile().read() or 1))
