"""How often remote callers may ask: a token bucket each."""

import time
from collections.abc import Callable

MOST_CALLERS = 1000
"""Buckets kept; the one that was used longest ago makes room."""


class Bucket:
    """Holds at most `burst` requests and gains `rate` of them a minute."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic):
        self.rate_s = rate / 60
        self.burst = burst
        self.clock = clock
        self.left = burst
        self.since = clock()

    def wait_s(self) -> float:
        """Take one request: 0, or the seconds after which there will be one."""
        time_s = self.clock()
        self.left = min(self.burst, self.left + (time_s - self.since) * self.rate_s)
        self.since = time_s
        if self.left >= 1:
            self.left -= 1
            return 0
        return (1 - self.left) / self.rate_s


class Rates:
    """A bucket of the same size for each caller."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic):
        self.rate, self.burst, self.clock = rate, burst, clock
        self.buckets: dict[str, Bucket] = {}

    def wait_s(self, caller: str) -> float:
        """Take one request of this caller: 0, or the seconds after which there will be one."""
        bucket = self.buckets.pop(caller, None) or Bucket(self.rate, self.burst, self.clock)
        self.buckets[caller] = bucket
        if len(self.buckets) > MOST_CALLERS:
            del self.buckets[next(iter(self.buckets))]
        return bucket.wait_s()
