# SPDX-License-Identifier: LGPL-2.1-or-later
"""Run the gate: lanes of tests, their order, and their counts.

table.py has the lanes. paths.py maps a change to lanes. schedule.py runs them, report.py counts results, and
resume.py records which lanes have passed on the same tree.
"""
