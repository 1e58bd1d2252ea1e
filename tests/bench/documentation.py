"""The Klipper documentation that benches search: the one beside the project, else the one that setup.sh fetched."""

import os
from pathlib import Path

from tests.conftest import documentation


def there(places: list[Path]) -> Path:
    """The first of them that is there, else the last."""
    return next((path for path in places if path.exists()), places[-1])


def searched(docs: Path | None) -> Path | None:
    """The checkout to search, by `docs` or the usual places, set as KLIPPER_DOCS_DIR; None if there is none."""
    docs = docs or documentation()
    if not docs or not (docs / "docs").is_dir():
        where = f"in {docs}" if docs else "here; ./setup.sh fetches it, --docs names another folder"
        print(f"left out: there is no documentation {where}")
        return None
    os.environ["KLIPPER_DOCS_DIR"] = str(docs)
    return docs
