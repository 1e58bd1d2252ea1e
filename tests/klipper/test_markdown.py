"""Headings of a page, all of them and the nearest."""

import pytest

from tools.klipper.markdown import Outline, headings

PAGE = """intro
# One `code` ##
text # no heading
```
# in code
```
## Two ~ two
~~~ sh
# in code
``` `
# still
~~~~
   ### Three
    # four blanks
#none
####### seven
``` with `ticks` is no fence
#
````
```
# in code
"""


def test_the_headings_of_a_page():
    assert [(heading.level, heading.text, heading.line) for heading in headings(PAGE)] == [
        (1, "One code", 2),
        (2, "Two ~ two", 7),
        (3, "Three", 13),
        (1, "", 18),
    ]
    assert all(PAGE[heading.offset :].splitlines()[0].lstrip().startswith("#") for heading in headings(PAGE))


@pytest.mark.parametrize("text", [PAGE, PAGE.replace("\n", "\r\n"), "", "# only", "text", "\n\n# late\n"])
def test_the_nearest_headings_are_those_of_the_list(text):
    offsets = [heading.offset for heading in headings(text)]
    outline = Outline(text)
    for at in range(len(text)):
        above = outline.above(at)
        assert (above and above.offset) == next((offset for offset in reversed(offsets) if offset <= at), None)
    for at in offsets:
        below = outline.below(at)
        assert below.offset == at
