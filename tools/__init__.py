"""The toolsets, the core that they stand on, and the service; `python3 -m tools` from a shell."""

import sys

if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit("pi-mcp: Python 3.10 or newer is needed, this is " + sys.version.split()[0])
