"""What the bench of the report needs."""
