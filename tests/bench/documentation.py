"""The Klipper documentation that benches search: the one beside the project, else the one that setup.sh fetched."""

import os
from pathlib import Path

from tests.conftest import DOCS


def there(places: list[Path]) -> Path:
    """The first of them that is there, else the last."""
    return next((path for path in places if path.exists()), places[-1])


def searched(docs: Path | None) -> Path | None:
    """The checkout to search, by `docs` or the usual places, set as KLIPPER_DOCS_DIR; None if there is none."""
    docs = docs or there(DOCS)
    if not (docs / "docs").is_dir():
        print(f"left out: there is no documentation in {docs}; ./setup.sh fetches it, --docs names another folder")
        return None
    os.environ["KLIPPER_DOCS_DIR"] = str(docs)
    return docs
