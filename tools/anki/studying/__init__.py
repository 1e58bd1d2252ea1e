"""Studying: the queue of cards, and the review log."""
