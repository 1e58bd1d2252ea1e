"""The checkouts of the documentation: brought to their upstream's tip as whole generations of pages."""
