"""Pages: what runs when in a kernel, and what optimization does to a network."""

from espalier.report.network import make_network_page
from espalier.report.page import make_page, write_report

__all__ = ["make_network_page", "make_page", "write_report"]
