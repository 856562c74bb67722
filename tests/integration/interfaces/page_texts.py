"""What the console's pages say."""

import re

import aiohttp


async def read(session: aiohttp.ClientSession, path: str) -> str:
    """The text of a page; see `drop_labels`."""
    async with session.get(path) as answer:
        assert answer.status == 200, path
        return drop_labels(await answer.text())


def drop_labels(text: str) -> str:
    """A page without the names of columns that each cell has for phones."""
    return re.sub(r'<td data-label="[^"]*"', "<td", text)


def find_row(text: str, head: str) -> list[str]:
    """The cells of the row with this head."""
    plain = re.sub(r"</?time[^>]*>", "", text)
    row = plain.partition(f'<th scope="row">{head}</th>')[2].partition("</tr>")[0]
    return re.findall(r"<td>([^<]*)</td>", row)
