"""One rival a file, each with the functions that the speed table asks for."""
