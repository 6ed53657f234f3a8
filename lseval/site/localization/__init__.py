"""Where runs went wrong, by what Stage 2 flags and by what people named: `manage.py localization`."""
