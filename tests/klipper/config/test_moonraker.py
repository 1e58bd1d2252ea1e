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


GONE = json_lines(r"""
["[file_manager]\nconfig_path: ~/x\n", "is deprecated, 2022-10-14", ""]
["[database]\ndatabase_path: ~/x\n", "is deprecated, 2022-10-14", ""]
["[server]\ntemperature_store_size: 9\n", "is not valid", "[data_store] temperature_store_size"]
["[server]\nenable_debug_logging: 1\n", "enable_debug_logging", "enable_debug_logging"]
["[update_manager client fluidd]\nclient_path: ~/x\n", "is not valid", ""]
""")


@pytest.mark.parametrize("lines, words, nearest", GONE)
def test_what_moonraker_no_longer_knows_is_a_warning(documented, lines, words, nearest):
    answer = check(lines)
    (finding,) = answer["findings"]
    assert finding["level"] == "warning" and words in finding["message"]
    assert nearest in finding.get("nearest", "")
    assert "Moonraker" in answer["not_checked"][0]


def test_an_option_that_stands_twice_is_an_error(documented):
    (finding,) = check(SOUND + "[server]\nhost: 1\n")["findings"]
    assert finding["level"] == "error"
    assert finding["message"] == "Duplicate option 'host' in section 'server'"


def test_what_it_knows_is_left_alone_and_a_component_of_others_is_a_hint(documented):
    assert check(SOUND)["findings"] == []
    (finding,) = check(SOUND + "[timelapse]\noutput_path: x\n")["findings"]
    assert finding["level"] == "hint" and "Moonraker's documentation" in finding["message"]


def test_without_its_documentation_the_setting_is_named(small_docs):
    small_docs({"a.md": "# A\n"})
    (finding,) = check("[server]\nhost: 0\nport_: 1\n")["findings"]
    assert finding["level"] == "hint" and "KLIPPER_DOCS_EXTRA=moonraker=" in finding["message"]


def test_a_printers_file_and_that_of_another_program_are_not_moonrakers():
    printers, another = "[printer]\n[update_manager x]\n", "[server]\nurl: x\n[moonraker]\n"
    for text in (printers, another):
        assert not moonraker.is_moonrakers(printer_cfg.from_text(text))
