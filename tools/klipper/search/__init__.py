"""How a question finds its page."""
