"""The prompts of a day and a week."""
