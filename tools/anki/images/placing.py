"""Pictures put into the fields of a note."""

from dataclasses import dataclass, field

from tools.anki.batches import fields
from tools.anki.batches.note_input import ImageSpec
from tools.anki.images.image_bytes import TOO_LARGE, ImageError
from tools.anki.images.image_html import replaced, with_image
from tools.anki.images.pictures import Picture, Pictures
from tools.core.json_types import JsonObject

UNKNOWN_TARGET = "unknown_target_field"


@dataclass
class Placed:
    """The values of a note with its pictures in them, what became of each picture, and what the client must know."""

    values: dict[str, str]
    images: list[JsonObject] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def detail(self) -> JsonObject:
        """What goes into the detail of the note."""
        return {name: value for name, value in (("images", self.images), ("warnings", self.warnings)) if value}


def place(
    pictures: Pictures,
    values: dict[str, str],
    present: dict[str, str],
    images: list[ImageSpec],
    model_fields: list[str],
) -> Placed:
    """`values` with their data URLs stored, and `images` after what their target fields will hold; `present` is what
    the note holds already.

    Raises ImageError before anything of this note is uploaded.
    """
    placed = Placed(dict(values))
    ready: list[tuple[str, Picture]] = []
    for image in images:
        target = fields.find(image.target_field, model_fields)
        if target is None:
            placed.warnings.append(UNKNOWN_TARGET)
            placed.images.append({"target_field": image.target_field, "warning": UNKNOWN_TARGET})
        else:
            ready.append((target, pictures.of(image)))
    for name, value in values.items():
        placed.values[name] = _stored_data_urls(pictures, name, value, placed)
    for target, picture in ready:
        stored = pictures.stored(picture)
        placed.values[target] = with_image(placed.values.get(target, present.get(target, "")), stored)
        _record(placed, target, stored, picture)
    return placed


def _stored_data_urls(pictures: Pictures, name: str, value: str, placed: Placed) -> str:
    def store(text: str) -> str | None:
        try:
            picture = pictures.of_data_url(text)
        except ImageError as error:
            if error.code == TOO_LARGE:
                raise
            placed.warnings.append(f"{name}: {error.message}; the data URL is left as it is")
            return None
        stored = pictures.stored(picture)
        _record(placed, name, stored, picture)
        return stored

    return replaced(value, store) if ";base64," in value.lower() else value


def _record(placed: Placed, target: str, stored: str, picture: Picture) -> None:
    placed.images.append({"field": target, "filename": stored, "sizeBytes": len(picture.data)})
    if picture.warning:
        placed.warnings.append(f"{stored}: {picture.warning}")
