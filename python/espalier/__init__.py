"""Espalier: a compiler for tensor programs."""
