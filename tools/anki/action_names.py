"""The names of AnkiConnect's actions that only read."""

NAMES = """\
    apiReflect areDue areSuspended canAddNote canAddNotes canAddNotesWithErrorDetail cardReviews cardsInfo cardsModTime
    cardsToNotes deckNameFromId deckNames deckNamesAndIds findCards findModelsById findModelsByName findNotes
    getActiveProfile getCollectionStatsHTML getDeckConfig getDeckStats getDecks getEaseFactors getIntervals
    getLatestReviewID getMediaDirPath getMediaFilesNames getNoteTags getNumCardsReviewedByDay getNumCardsReviewedToday
    getProfiles getReviewsOfCards getTags guiCurrentCard guiReviewActive guiSelectedNotes modelFieldDescriptions
    modelFieldFonts modelFieldNames modelFieldsOnTemplates modelNames modelNamesAndIds modelStyling modelTemplates
    notesInfo notesModTime retrieveMediaFile suspended version"""
READING = frozenset(NAMES.split())
"""Actions that change neither the collection nor a file, nor what Anki shows, if their parameters pass the checks."""
