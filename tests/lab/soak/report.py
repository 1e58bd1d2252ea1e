"""The table at the end of a soak, and whether it went well."""

import threading
from collections import Counter
from typing import IO

from tests.lab.soak.record import Record
from tests.lab.soak.watching import Watching

MOST_MIB, GROWN_KIB = 200, 1024
"""What a process may have at most, and what the service may grow by."""
BAD_SIGNS = ("Traceback", "Internal error", "failed\n")


class Log:
    """What the service, and sessions without a caller, write to stderr; read, so that nobody waits for room."""

    def __init__(self, stream: IO[bytes]):
        self.bad: list[str] = []
        self.thread = threading.Thread(target=self._read, args=(stream,))
        self.thread.start()

    def _read(self, stream: IO[bytes]) -> None:
        for line in stream:
            text = line.decode(errors="replace")
            if any(sign in text for sign in BAD_SIGNS):
                self.bad.append(text.strip())


def show(record: Record, watching: Watching, warm_s: float) -> bool:
    """Print it; gives whether all is as it must be."""
    print(f"sessions      {sum(record.sessions.values())}: {_listed(record.sessions)}")
    print(f"calls         {sum(record.calls.values())}: {_listed(record.calls)}")
    print(f"              {_listed(record.tools)}")
    print(f"faults        {_listed(record.faults)}")
    for fault in record.faults:
        codes = Counter({code: count for (name, code), count in record.errors.items() if name == fault})
        print(f"  {fault:<26}{_listed(codes) or 'no error'}")
    print(f"compared      {_listed(record.checks)}")
    for system in ("anki", "onepercent"):
        fates = Counter({fate: count for (name, fate), count in record.uncertain.items() if name == system})
        print(f"uncertain     {system}: {_listed(fates) or 'none'}")
    flat = _memory(watching, warm_s)
    print(f"peak          {watching.peak[0]} MiB ({watching.peak[1]}) (at most {MOST_MIB})")
    print(f"wrong answers {len(record.wrong)}, lost writes {len(record.lost_writes)}", flush=True)
    return flat and watching.peak[0] <= MOST_MIB and not record.wrong and not record.lost_writes


def _memory(watching: Watching, warm_s: float) -> bool:
    samples = [sample for sample in watching.samples if sample.at_s >= warm_s]
    first, last = samples[0], samples[-1]
    most = max(abs(sample.rss_kib - first.rss_kib) for sample in samples)
    grown = max(sample.anonymous_kib for sample in samples) - first.anonymous_kib
    print(f"memory        RSS {first.rss_kib} → {last.rss_kib} KiB, at most {most} KiB apart (at most {GROWN_KIB});")
    print(f"              anonymous {first.anonymous_kib} → {last.anonymous_kib} KiB, {last.handles} handles")
    return max(most, grown) <= GROWN_KIB and last.handles <= first.handles


def _listed(counts: Counter) -> str:
    return ", ".join(f"{key} {count}" for key, count in counts.most_common())
