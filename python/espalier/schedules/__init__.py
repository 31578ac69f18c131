"""Schedules: in which order, and how, the points of a kernel run."""

from espalier.schedules.choices import Choice, choices, select
from espalier.schedules.errors import ScheduleError
from espalier.schedules.schedule import Schedule

__all__ = ["Choice", "Schedule", "ScheduleError", "choices", "select"]
