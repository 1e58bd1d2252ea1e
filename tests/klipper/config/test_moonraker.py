"""A moonraker.conf, held against Moonraker's documentation where that is a further source."""

import pytest

from tests.klipper.test_check_config import check
from tests.support.client import json_lines
from tools.klipper.config import moonraker, printer_cfg

CONFIGURATION = """\
# Configuration
## Core Components
### `[server]`
```ini {title="x"}
# moonraker.conf
[server]
host: 0.0.0.0
#   The address.
enable_debug_logging: False
#   ***DEPRECATED***
```
### `[file_manager]`
```ini
# moonraker.conf
queue_gcode_uploads: False
#   Whether to queue. In the future this will be deprecated.
```
### `[database]`
Has no options.
### `[data_store]`
```ini
temperature_store_size: 600
#   How many.
```
### `[update_manager]`
```ini
[update_manager]
channel: dev
#   The channel.
```
#### Git Repo Configuration
```ini
install_script:
#   *** DEPRECATED FOR NEW CONFIGURATIONS ***
origin:
#   The address.
```
## Option Moved Deprecations
```ini
[server]
temperature_store_size: 600
```
"""
CHANGES = """\
##
### October 14th 2022
- Files are in one folder.  As a result, the following
  options have been deprecated:
    - `config_path` in `[file_manager]`
    - `database_path` in `[database]`
"""
SOUND = "[server]\nhost: 0.0.0.0\n[file_manager]\nqueue_gcode_uploads: True\n[update_manager x]\norigin: y\ninstall_script: z\n[history]\n"


@pytest.fixture
def documented(further):
    further({"configuration.md": CONFIGURATION, "user_changes.md": CHANGES})


JUDGED = json_lines(r"""
["warning", "[file_manager]\nconfig_path: ~/x\n", "is deprecated, 2022-10-14", ""]
["warning", "[database]\ndatabase_path: ~/x\n", "is deprecated, 2022-10-14", ""]
["warning", "[server]\ntemperature_store_size: 9\n", "is not valid", "[data_store] temperature_store_size"]
["warning", "[server]\nenable_debug_logging: 1\n", "enable_debug_logging", "enable_debug_logging"]
["warning", "[update_manager client fluidd]\nclient_path: ~/x\n", "is not valid", ""]
["error", "[server]\nhost: 1\n", "Duplicate option 'host' in section 'server'", ""]
["hint", "[timelapse]\noutput_path: x\n", "Moonraker's documentation", ""]
""")


@pytest.mark.parametrize("level, lines, words, nearest", JUDGED)
def test_what_moonraker_does_not_take_is_the_only_finding_beside_what_it_knows(
    documented, level, lines, words, nearest
):
    answer = check(SOUND + lines)
    (finding,) = answer["findings"]
    assert finding["level"] == level and words in finding["message"]
    assert nearest in finding.get("nearest", "")
    assert "Moonraker" in answer["not_checked"][0]


def test_without_its_documentation_the_setting_is_named(small_docs):
    small_docs({"a.md": "# A\n"})
    (finding,) = check("[server]\nhost: 0\nport_: 1\n")["findings"]
    assert finding["level"] == "hint" and "KLIPPER_DOCS_EXTRA=moonraker=" in finding["message"]


def test_a_printers_file_and_that_of_another_program_are_not_moonrakers():
    for text in ("[printer]\n[update_manager x]\n", "[server]\nurl: x\n[moonraker]\n"):
        assert not moonraker.is_moonrakers(printer_cfg.from_text(text))
