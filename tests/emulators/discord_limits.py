"""Rate limits of the emulated Discord: a bucket per route and channel, and a global one."""

import time
import zlib
from collections import deque
from dataclasses import dataclass, field

PER_BUCKET, BUCKET_SECONDS = 5, 5.0
PER_SECOND = 50
_PLENTY = 100_000


@dataclass(kw_only=True)
class _Bucket:
    left: int
    until: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a call is allowed, and its headers."""

    headers: dict[str, str]
    retry_after: float | None = None
    """Seconds to wait; None if allowed."""
    is_global: bool = False


@dataclass(kw_only=True)
class Limits:
    """Off by default: headers then report plenty."""

    is_on: bool = False
    is_global_on: bool = False
    per_bucket: int = PER_BUCKET
    bucket_seconds: float = BUCKET_SECONDS
    global_seconds: float = 1.0
    refused: int = 0
    _buckets: dict[tuple[str, str], _Bucket] = field(default_factory=dict)
    _last_second: deque[float] = field(default_factory=deque)

    def judge(self, route: str, major: str, *, is_exempt: bool = False) -> Verdict:
        """Count a call. `major` is the channel; interactions are exempt from the global limit."""
        now = time.monotonic()
        if self.is_global_on and not is_exempt:
            while self._last_second and self._last_second[0] <= now - self.global_seconds:
                self._last_second.popleft()
            if len(self._last_second) >= PER_SECOND:
                self.refused += 1
                wait = round(self._last_second[0] + self.global_seconds - now, 3)
                headers = {"X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"}
                return Verdict(headers=headers, retry_after=max(wait, 0.001), is_global=True)
            self._last_second.append(now)
        limit = self.per_bucket if self.is_on else _PLENTY
        seconds = self.bucket_seconds if self.is_on else 1.0
        bucket = self._buckets.get((route, major))
        if bucket is None or bucket.until <= now or bucket.left > limit:
            bucket = _Bucket(left=limit, until=now + seconds, seconds=seconds)
            self._buckets[route, major] = bucket
        wait = round(bucket.until - now, 3)
        is_over = bucket.left <= 0
        bucket.left = max(0, bucket.left - 1)
        headers = {
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(bucket.left),
            "X-RateLimit-Reset": f"{time.time() + wait:.3f}",
            "X-RateLimit-Reset-After": f"{wait:.3f}",
            "X-RateLimit-Bucket": f"{zlib.crc32(route.encode()):08x}" * 4,
        }
        if not is_over:
            return Verdict(headers=headers)
        self.refused += 1
        headers["X-RateLimit-Scope"] = "user"
        return Verdict(headers=headers, retry_after=max(wait, 0.001))
