"""The search tool: a search service of the person's own, asked over HTTP."""

INSTRUCTION = "Web: search, for everything else."
