"""Importers: from other systems' models to modules of the graph dialect."""
