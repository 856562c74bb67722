"""Files: the person's own workspace, to look into, to download from and to add to."""

from http import HTTPStatus
from pathlib import PurePosixPath
from urllib.parse import quote

from starlette.responses import JSONResponse, Response

from gateway.errors import Declined
from gateway.interfaces.api.responses import read_body
from gateway.interfaces.pages.views import Fields, Look
from gateway.operations import workspaces as operations
from gateway.texts import forms as texts

_UNITS = ("B", "kB", "MB", "GB")


async def show(look: Look) -> Fields:
    """List one folder, or say that there is no workspace. Raises `Declined` if it is none of it."""
    if not operations.is_here(look.gateway.backend, look.person):
        return {"is_closed": True, "f": texts}
    folder = _clean(look.request.query_params.get("in", ""))
    found = await operations.list_files(look.gateway.backend, look.person, folder)
    parts = [one for one in folder.split("/") if one]
    return {
        "is_closed": False,
        "files": [(one, _join(folder, one.name)) for one in found],
        "folder": folder,
        "trail": [("/".join(parts[: place + 1]), one) for place, one in enumerate(parts)],
        "size": _show_size,
        "most": operations.MOST_BYTES,
        "f": texts,
    }


async def give(look: Look) -> Response:
    """Answer with the bytes of a file, which the browser saves and never shows as a page."""
    path = _clean(look.request.query_params.get("path", ""))
    data = await operations.read_file(look.gateway.backend, look.person, path)
    name = quote(PurePosixPath(path).name)
    return Response(
        data,
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "X-Content-Type-Options": "nosniff",
        },
    )


async def add(look: Look) -> Response:
    """Store the body of the request as a new file of a folder; the script of the page sends it."""
    query = look.request.query_params
    name = PurePosixPath(query.get("name", "").replace("\\", "/")).name
    folder = _clean(query.get("in", ""))
    data = await read_body(look.request, operations.MOST_BYTES)
    if not name or name in (".", ".."):
        return JSONResponse({"fault": texts.MISSING()}, HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        path = await operations.add_file(
            look.gateway.backend, look.person, _join(folder, name), data
        )
    except Declined as error:
        return JSONResponse({"fault": str(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)
    return JSONResponse({"path": path}, HTTPStatus.CREATED)


def _clean(path: str) -> str:
    return path.replace("\0", "").strip("/")


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _show_size(size: int) -> str:
    """Return a size as people read it."""
    amount, unit = float(size), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return (
        f"{amount:.0f} {_UNITS[unit]}"
        if unit == 0 or amount >= 10
        else f"{amount:.1f} {_UNITS[unit]}"
    )
