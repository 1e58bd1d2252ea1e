"""What every room of OnePercent stands on: days, rules, texts and words, fields, the entries of a diff."""
