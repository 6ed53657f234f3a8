"""The API: a study's rows, files and reports for other programs. It only reads."""
