"""Addresses that lead inside: hosts in every spelling, and URLs that must not be tried."""

import socket
from collections.abc import Sequence

NAMES = {
    "loopback.test": ["127.0.0.1"],
    "localhost": ["127.0.0.1", "::1"],
    "LOCALHOST": ["127.0.0.1"],
    "localhost.": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "metadata.test": ["169.254.169.254"],
    "private.test": ["10.1.2.3"],
    "half.test": ["93.184.216.34", "192.168.1.1"],
    "other-half.test": ["192.168.1.1", "93.184.216.34"],
    "six.test": ["2606:4700::1111", "fd00::1"],
    "mapped.test": ["::ffff:10.0.0.1"],
    "zone.test": ["fe80::1%eth0"],
    "nat64.test": ["64:ff9b::a00:1"],
    "cgnat.test": ["100.64.0.1"],
    "nowhere.test": ["no address"],
    "xn--bcher-kva.test": ["192.168.0.9"],
    "bücher.test": ["192.168.0.9"],
    "127.0.0.1.nip.test": ["127.0.0.1"],
}
"""Names as a hostile DNS server resolves them."""

HOSTS = (
    # this machine, in every spelling that a C library reads
    *("127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1"),
    *("017700000001", "127.255.255.254", "0", "0.0.0.0", "0.1.2.3", "[::1]", "[::]"),
    *("[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]"),
    *("127.0.0.1.", "127.000.000.001", "0x7F.0x0.0x0.0x1", "0177.0x0.0.01", "00.0.0.0"),
    *("0x0", "0x7f.0.0.1", "127.0x1", "0000.0.0.0", "127.0.0.01", "0X7F000001"),
    # private networks
    *("10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1"),
    *("192.168.255.255", "0xa.0.0.1", "012.0.0.1", "3232235777", "[fc00::1]", "[fd12:3456::1]"),
    *("[::ffff:192.168.0.1]", "[::ffff:a00:1]", "10.1", "0xc0a80001", "030052000001", "192.168.1"),
    *("172.1048577", "[::ffff:0a00:0001]", "[::FFFF:172.16.0.1]", "0300.0250.0.1"),
    # link-local, carriers, tests, documentation
    *("169.254.0.1", "169.254.169.254", "0xa9fea9fe", "[fe80::1]", "[fe80::1%25lo]", "[fec0::1]"),
    *("100.64.0.1", "100.127.255.255", "198.18.0.1", "198.19.255.255", "192.0.0.1", "192.0.2.1"),
    *("198.51.100.1", "203.0.113.7", "[2001:db8::1]", "[100::1]", "[3fff::1]"),
    *("2852039166", "0251.0376.0251.0376", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]"),
    *("[fd00:ec2::254]", "169.254.43518", "[fe80::1%25eth0]", "[febf::1]", "100.100.100.200"),
    # what wraps IPv4
    *("[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2002:a00:1::1]"),
    *("[2001:0:7f00:1::]", "[2001::1]", "192.88.99.1", "[64:ff9b::10.0.0.1]"),
    *("[::ffff:0:127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[2002:c0a8:1::1]", "[::a00:1]"),
    # many at once, and none yet
    *("224.0.0.1", "239.255.255.250", "[ff02::1]", "[ff0e::1]", "240.0.0.1", "255.255.255.255"),
    # other digits and dots that IDNA maps to plain ones
    *("①②⑦.0.0.1", "127。0。0。1", "ⓛocalhost", "１２７.0.0.1"),
    # names that lead inside
    *NAMES,
)
URLS = (
    *("ftp://example.org/", "file:///etc/passwd", "gopher://127.0.0.1:11211/_stats"),
    *("data:text/html,hello", "javascript:alert(1)", "ws://127.0.0.1/", "unix:///run/docker.sock"),
    *("//127.0.0.1/", "/etc/passwd", "http:///path", "http://", "https://:443/"),
    *("http://name:word@example.org/", "http://name@127.0.0.1/", "http://@127.0.0.1/"),
    *("http://example.org@127.0.0.1/", "http://127.0.0.1\\@example.org/", "http://127.0.0.1 /"),
    *("http://127.0.0.1\n.example.org/", "http://[::1/", "http://127.0.0.1:99999/"),
    *("http://127.0.0.1:port/", "http://127.0.0.1:0/", "http://exa\u202emple.org/"),
    *("dict://127.0.0.1:6379/info", "http://x/" + "a" * 2000, "http+unix://%2Frun%2Fdocker.sock/"),
    *("http://127.0.0.1\t/", "http:\\\\127.0.0.1\\", "http://[::1%25lo/", "ldap://127.0.0.1/"),
    *("http://example.org#@127.0.0.1\\/", "jar:http://127.0.0.1!/", "http://[127.0.0.1]/"),
    *("http://[::ffff:127.0.0.1.]/", "tftp://127.0.0.1/a", "http://127.0.0.1%00.example.org/"),
    *("http://exam%70le@127.0.0.1/", "sftp://127.0.0.1/", "view-source:http://127.0.0.1/"),
)
FORMS = (*(f"http://{host}:{{port}}/" for host in HOSTS), *URLS)
"""All of them; `{port}` is the port of a listener on this machine."""

PATHS = ("/etc/passwd", "http:///path", "http://")
"""Forms that are pages of the same host in a redirect."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """Resolve names as a hostile server does, and numbers in any spelling as the system does."""
    if host in NAMES:
        return NAMES[host]
    if ":" in host:
        return [host]
    return [socket.inet_ntoa(socket.inet_aton(host.encode("idna").decode().rstrip(".")))]
