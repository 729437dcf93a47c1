"""The project's pages, and what makes those of the faults."""
