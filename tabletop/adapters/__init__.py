"""The interfaces of other libraries: each module imports its library, renames and reshapes, and nobody imports it."""
