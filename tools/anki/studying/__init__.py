"""Studying: the queue of cards, answers to them, the review log, changes of many cards."""
