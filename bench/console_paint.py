"""The first paint of the console's pages in chromium: `python -m bench.console_paint`.

The home is that of `bench.console_pages`. Each load has an empty cache, and the
browser itself says when it first showed something (PerformancePaintTiming).
"""

import asyncio
import shutil
import sys
from tempfile import TemporaryDirectory

from playwright.async_api import Browser, StorageState, async_playwright

from bench.console_home import fill_home
from bench.console_pages import list_addresses
from bench.figures import Figure, percentile, render
from tests.fakes.model import FakeModel
from tests.integration.served import served

_ROUNDS = 9
_MOST_MS = 300
_PAINT = """() => new Promise((tell) => {
  const look = () => performance.getEntriesByName("first-contentful-paint")[0];
  if (look()) return tell(look().startTime);
  new PerformanceObserver(() => look() && tell(look().startTime))
    .observe({ type: "paint", buffered: true });
})"""


async def measure(*, messages: int, people: int) -> list[Figure]:
    """Time the first paint of every page for the owner."""
    with TemporaryDirectory(prefix="talaria-paint-") as folder:
        home = await fill_home(folder, messages, people)
        async with (
            served(home, model=FakeModel()) as running,
            async_playwright() as tool,
        ):
            browser = await tool.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = await browser.new_page()
            await page.goto(str(running.page))
            login = await page.context.storage_state()
            found = [
                await _time(browser, login, f"{running.address.origin()}{path}", path)
                for path in list_addresses(running.gateway)
            ]
            await browser.close()
            return found


async def _time(browser: Browser, login: StorageState, address: str, path: str) -> Figure:
    took = [await _load(browser, login, address) for _ in range(_ROUNDS)]
    return Figure(
        name=f"{path}: first paint, p50", unit="ms", value=percentile(took, 0.5), at_most=_MOST_MS
    )


async def _load(browser: Browser, login: StorageState, address: str) -> float:
    """Return after how many milliseconds a page first showed something."""
    context = await browser.new_context(storage_state=login)
    page = await context.new_page()
    await page.goto(address)
    painted = float(await page.evaluate(_PAINT))
    await context.close()
    return painted


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asked = {"messages": 1_000_000, "people": 1_000}
    asked |= dict(zip(asked, numbers, strict=False))
    print(render(asyncio.run(measure(**asked))))
