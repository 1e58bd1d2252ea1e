"""The page of a printer, beside the answers of check_config and of the printer's tools."""
