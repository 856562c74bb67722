"""Model files from installed packages, verified by hash."""

import hashlib
from importlib.metadata import PackageNotFoundError, files


def read_weights(package: str, path: str, digest: str) -> bytes:
    """Read a file of a package and check its SHA-256. The package is not imported.

    Raises `ModuleNotFoundError` if it is not installed, and `ValueError` with a sentence if the
    file is missing or different.
    """
    try:
        listed = files(package) or []
    except PackageNotFoundError as error:
        raise ModuleNotFoundError(f"No package named '{package}'", name=package) from error
    found = [one for one in listed if one.as_posix() == path]
    if not found:
        raise ValueError(f"The package {package} is installed, but contains no {path}.")
    data = found[0].read_binary()
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError(f"{path} of the package {package} is not the expected file.")
    return data
