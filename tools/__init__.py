"""The tools of pi-mcp: standard library only, one package a system."""
