"""An S3 server on loopback: it checks the signature of every request, and of every part's bytes.

The check follows Amazon's description of signature version 4, and shares no code with a client.
"""

import hashlib
import hmac
import re
from typing import Self
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from aiohttp import web
from aiohttp.test_utils import TestServer

KEY_ID, KEY, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG", "eu-test-1"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<id>[^/]+)/(?P<scope>[^,]+), ?"
    r"SignedHeaders=(?P<names>[^,]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)


class S3Emulator:
    """One server with any buckets. `objects` are by bucket and key."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.refused: list[str] = []
        self.is_full = False
        self._parts: dict[str, dict[int, bytes]] = {}
        application = web.Application(client_max_size=1 << 30)
        application.router.add_route("*", "/{path:.*}", self._serve)
        self._server = TestServer(application)

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.port}"

    async def _serve(self, request: web.Request) -> web.Response:
        body = await request.read()
        fault = _check(request, body)
        if fault:
            self.refused.append(fault)
            return _fail(403, fault)
        if self.is_full and request.method in ("PUT", "POST"):
            return _fail(400, "QuotaExceeded")
        handler = getattr(self, f"_{request.method.lower()}")
        answer: web.Response = handler(unquote(request.path).lstrip("/"), request, body)
        return answer

    def _put(self, key: str, request: web.Request, body: bytes) -> web.Response:
        upload = request.query.get("uploadId")
        if upload:
            self._parts[upload][int(request.query["partNumber"])] = body
        else:
            self.objects[key] = body
        return web.Response(headers={"ETag": f'"{hashlib.md5(body).hexdigest()}"'})

    def _post(self, key: str, request: web.Request, body: bytes) -> web.Response:
        if "uploads" in request.query:
            upload = f"upload-{len(self._parts)}"
            self._parts[upload] = {}
            return _answer("InitiateMultipartUploadResult", f"<UploadId>{upload}</UploadId>")
        if "delete" in request.query:
            bucket = key.strip("/")
            names = re.findall(r"<Key>(.*?)</Key>", body.decode())
            for name in names:
                self.objects.pop(f"{bucket}/{name}", None)
            deleted = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in names)
            return _answer("DeleteResult", deleted)
        parts = self._parts.pop(request.query["uploadId"])
        self.objects[key] = b"".join(parts[number] for number in sorted(parts))
        return _answer("CompleteMultipartUploadResult", '<ETag>"whole"</ETag>')

    def _get(self, key: str, request: web.Request, body: bytes) -> web.Response:
        if "list-type" in request.query:
            bucket, prefix = key.strip("/"), request.query.get("prefix", "")
            found = "".join(
                f"<Contents><Key>{escape(name.partition('/')[2])}</Key><Size>{len(content)}</Size>"
                "<LastModified>2026-11-26T00:00:00.000Z</LastModified></Contents>"
                for name, content in sorted(self.objects.items())
                if name.startswith(f"{bucket}/{prefix}")
            )
            return _answer("ListBucketResult", f"<IsTruncated>false</IsTruncated>{found}")
        if key not in self.objects:
            return _fail(404, "NoSuchKey")
        headers = {"ETag": '"it"', "Last-Modified": "Thu, 26 Nov 2026 00:00:00 GMT"}
        return web.Response(body=self.objects[key], headers=headers)

    _head = _get

    def _delete(self, key: str, request: web.Request, body: bytes) -> web.Response:
        self.objects.pop(key, None)
        return web.Response(status=204)


def _check(request: web.Request, body: bytes) -> str:
    """Return the code of the error, "" if the signature and the bytes are right."""
    found = _AUTHORIZATION.fullmatch(request.headers.get("Authorization", ""))
    if not found:
        return "AccessDenied"
    date, region, service, end = found["scope"].split("/")
    if found["id"] != KEY_ID:
        return "InvalidAccessKeyId"
    if (region, service, end) != (REGION, "s3", "aws4_request"):
        return "AuthorizationHeaderMalformed"
    told = request.headers["x-amz-content-sha256"]
    if told != hashlib.sha256(body).hexdigest():
        return "XAmzContentSHA256Mismatch"
    names = found["names"].split(";")
    canonical = "\n".join(
        [
            request.method,
            quote(unquote(request.rel_url.raw_path), safe="/-_.~"),
            "&".join(
                f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
                for name, value in sorted(request.query.items())
            ),
            *(f"{name}:{' '.join(request.headers[name].split())}" for name in names),
            "",
            found["names"],
            told,
        ]
    )
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{request.headers['x-amz-date']}\n{found['scope']}\n{hashed}"
    key = f"AWS4{KEY}".encode()
    for word in (date, region, service, end):
        key = hmac.digest(key, word.encode(), "sha256")
    right = hmac.new(key, text.encode(), "sha256").hexdigest()
    return "" if hmac.compare_digest(right, found["signature"]) else "SignatureDoesNotMatch"


def _answer(name: str, content: str) -> web.Response:
    return web.Response(text=f"<{name}>{content}</{name}>", content_type="application/xml")


def _fail(status: int, code: str) -> web.Response:
    text = f"<Error><Code>{code}</Code><Message>{code}</Message></Error>"
    return web.Response(status=status, text=text, content_type="application/xml")
