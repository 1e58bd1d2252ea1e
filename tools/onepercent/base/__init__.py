"""The base of OnePercent: days, rules, texts and words, fields, the entries of a diff."""
