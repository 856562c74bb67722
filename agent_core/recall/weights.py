"""Reads what a model is made of from an installed package, if it is what was measured."""

import hashlib
from importlib.metadata import PackageNotFoundError, files


def read_weights(package: str, path: str, digest: str) -> bytes:
    """A file of a package, known by its SHA-256. The package itself is not imported.

    Raises `ModuleNotFoundError` where it is not installed, and `ValueError` with a sentence where
    it holds no such file or another one.
    """
    try:
        listed = files(package) or []
    except PackageNotFoundError as error:
        raise ModuleNotFoundError(f"No package named '{package}'", name=package) from error
    found = [one for one in listed if one.as_posix() == path]
    if not found:
        raise ValueError(f"The package {package} is installed, but holds no {path}.")
    data = found[0].read_binary()
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError(f"{path} of the package {package} is not the file that Talaria knows.")
    return data
