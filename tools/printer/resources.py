"""The page of a printer, for clients that have these tools without those of the documentation."""

from tools.core.mcp_apps import MIME_TYPE
from tools.core.resources import Resource
from tools.klipper.page import printer_page


@Resource(printer_page.PRINTER_PAGE.uri, "Printer", mime_type=MIME_TYPE, listed=False)
def page() -> str:
    """The page of printer_state, printer_log, printer_resonances.

    Source: docs/pages.md
    """
    return printer_page.printer_page()
