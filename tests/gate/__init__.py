# SPDX-License-Identifier: LGPL-2.1-or-later
"""
The gate: lanes of tests, the order in which they run, and what they count.

table.py has the lanes, paths.py which of them a change concerns, schedule.py runs them,
report.py counts, resume.py remembers what has passed on the same tree.
"""
