# SPDX-License-Identifier: LGPL-2.1-or-later
"""The gate: lanes of tests, the order in which they run, and their counts.

table.py has the lanes, paths.py the lanes that a change concerns, schedule.py runs them,
report.py counts, and resume.py remembers what has passed on the same tree.
"""
