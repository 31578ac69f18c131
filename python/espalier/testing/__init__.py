"""Checks of the compiler against other implementations."""
