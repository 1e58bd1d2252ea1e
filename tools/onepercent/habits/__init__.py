"""Habit histories and streaks."""
