"""Things that a person looks at: the page of a preview, the page of the days."""
