"""Pages: what runs when in a kernel or a recursive model, what optimization does
to a network, what searches tried.
"""

from espalier.report.network import make_network_page
from espalier.report.page import make_page, write_report
from espalier.report.recursive import make_recursive_page
from espalier.report.tuning import make_tuning_page

__all__ = [
    "make_network_page",
    "make_page",
    "make_recursive_page",
    "make_tuning_page",
    "write_report",
]
