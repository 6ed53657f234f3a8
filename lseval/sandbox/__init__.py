"""A made-up web whose truth is known, and simulated agents on it. Nothing in it exists."""
