"""Hold the tests of the project."""
