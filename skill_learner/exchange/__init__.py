"""Skills that leave a library and come into one: as a JSON document, a zip archive, or folders."""
