"""A feed that grows."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

FEED = """<rss version="2.0"><channel><title>News</title>{items}</channel></rss>"""
ITEM = (
    "<item><title>{0}</title><link>https://example.org/{0}</link>"
    "<description>All of {0}.</description></item>"
)


class Feed:
    """A feed that grows."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.is_broken = False
        self.media_type = "application/rss+xml"
        self.asked, self.answers = asyncio.Event(), asyncio.Event()
        self.answers.set()
        self.request: web.Request | None = None

    async def show(self, request: web.Request) -> web.Response:
        self.request = request
        self.asked.set()
        await self.answers.wait()
        if self.is_broken:
            return web.Response(status=500)
        items = "".join(ITEM.format(title) for title in reversed(self.titles))
        return web.Response(text=FEED.format(items=items), content_type=self.media_type)


@asynccontextmanager
async def feed_served(feed: Feed) -> AsyncIterator[str]:
    """Serve a feed, and yield the host and port of its server."""
    application = web.Application()
    application.router.add_get("/feed", feed.show)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"127.0.0.1:{runner.addresses[0][1]}"
    finally:
        feed.answers.set()
        await runner.cleanup()
