"""Names who signed an export: the names that this needs, quick to import."""

import hashlib
import json
import zipfile
from pathlib import Path

KEY_NAME = "signing.key"
"""The file in the home directory with the private key: Ed25519, 32 bytes in base64."""
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
"""The last files of an export: the SHA-256 of all others, and the signature of that."""
_GROUP, _GROUPS = 4, 5


def name_key(public: str) -> str:
    """Return a short form of a public key, for people to compare, such as `4f1c-09ab-…`."""
    digest = hashlib.sha256(public.encode()).hexdigest()
    return "-".join(digest[at : at + _GROUP] for at in range(0, _GROUP * _GROUPS, _GROUP))


def find_signer(path: Path) -> str:
    """Return the short form of the key in an export of this home. Blocks. Raises `OSError`."""
    with zipfile.ZipFile(path) as archive:
        return name_key(json.loads(archive.read(MANIFEST))["key"])
