"""Makes this folder's modules known to the tests in the folders below."""
