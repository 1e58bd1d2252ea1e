"""What the installed units do under a real systemd; runs as the installing user, who may sudo, in a machine
to spoil.

boot.sh beside it makes such a machine.

usage: inside.py installed | rebooted
"""

import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.lab.systemd import remote, sessions, upkeep
from tests.lab.systemd.machine import forget_starts
from tests.lab.systemd.machine import sessions as running
from tests.support.services import wait_until

CHECKS = {
    "installed": (
        upkeep.nothing_was_installed_by_pip,
        sessions.a_clone_serves_by_debians_own_python_without_a_package,
        upkeep.no_unit_failed,
        sessions.the_first_connection_starts_the_service,
        upkeep.installing_again_changes_nothing,
        sessions.a_session_offers_every_tool_and_each_system_answers,
        sessions.the_smoke_test_of_the_readme_passes,
        sessions.a_setup_in_english_passes_it_too,
        sessions.what_one_session_writes_the_next_one_reads,
        sessions.nobody_else_connects,
        sessions.a_killed_service_comes_back_and_its_sessions_live,
        sessions.a_restart_cuts_no_session,
        sessions.unused_it_ends_and_the_next_connection_starts_it_again,
        sessions.a_service_that_cannot_start_leaves_its_callers_to_themselves,
        upkeep.the_timer_is_set_and_its_service_brings_new_pages_to_every_session,
        remote.switched_on_it_serves_who_has_a_token_until_that_is_revoked,
        remote.a_restart_loses_nobody,
        remote.debians_own_uvicorn_serves_as_well_from_trixie_on,
        remote.shut_it_answers_nobody,
        upkeep.an_update_cuts_no_session_and_new_ones_get_the_new_version,
        upkeep.uninstalled_only_data_is_left,
        upkeep.installed_again_it_works_with_the_data_there_was,
    ),
    "rebooted": (
        upkeep.after_a_reboot_the_socket_is_there_before_anyone_logs_in,
        sessions.the_first_connection_starts_the_service,
        sessions.the_goal_is_there,
        sessions.a_session_offers_every_tool_and_each_system_answers,
        upkeep.no_unit_failed,
        remote.a_key_is_copied_and_a_session_starts,
        remote.windows_adds_its_key_to_those_there_are,
        remote.nothing_is_printed_at_login,
        remote.sshd_takes_the_line_about_broken_links,
        remote.several_clients_have_anki_each_through_a_socket_of_its_own_also_after_sleep,
    ),
}


def run(check):
    """Run a check and print its outcome. Returns True if it passed."""
    began = time.monotonic()
    name = check.__name__.replace("_", " ")
    try:
        forget_starts()
        wait_until(lambda: not running())
        check()
    except Exception:
        traceback.print_exc()
        print(f"FAIL        {name}", flush=True)
        return False
    print(f"ok {time.monotonic() - began:5.1f} s  {name}", flush=True)
    return True


if __name__ == "__main__":
    held = [run(check) for check in CHECKS[sys.argv[1]]]
    sys.exit(not all(held))
