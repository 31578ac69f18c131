"""Pictures of kernels: what runs when, and what depends on what."""

from espalier.report.page import make_page, write_report

__all__ = ["make_page", "write_report"]
