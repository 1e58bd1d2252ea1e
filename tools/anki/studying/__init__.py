"""What the tools for studying share: cards as rows of text, what is due, the review log."""
