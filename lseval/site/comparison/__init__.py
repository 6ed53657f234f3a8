"""Two studies, or two judges of one, beside each other: which verdicts differ, and how far they agree."""
