"""The configuration reference, and a printer's configuration held against it."""
