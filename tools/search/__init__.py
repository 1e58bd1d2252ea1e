"""The search tool: a search service of the person's own, asked over HTTP."""

from tools.core.toolsets import Instruction

INSTRUCTIONS = (Instruction("Web: search, for everything else."),)
