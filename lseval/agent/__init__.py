"""The agent protocol: one ReAct loop, five tools, the same rules for every model. Nothing here knows of Django."""
