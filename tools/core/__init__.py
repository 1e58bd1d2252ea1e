"""Everything that a toolset may import: declarations, arguments, settings, locks. It imports the standard
library alone."""
