"""One rival a file, each with the functions that the speed table and the quality page ask for."""
