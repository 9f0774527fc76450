# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parse the console output of a kernel, and give a verdict for each KUnit suite."""

import re
from dataclasses import dataclass, field

from .verdict import bad_lines

PREFIX = re.compile(r"^(?:<\d+>)?(?:\[ *\d+\.\d+\](?:\[[^]]*\])? )?")
SUBTEST = re.compile(r"^( *)# Subtest: (\S.*)$")
PLAN = re.compile(r"^( *)1\.\.(\d+)$")
RESULT = re.compile(r"^( *)(ok|not ok) (\d+)(?: -)? (.*?)(?: # SKIP.*)?$")
LANE = re.compile(r"^kunit-lane: (cannot .*|the machine .*)$")


@dataclass
class Suite:
    name: str
    plan: int = None
    seen: int = 0
    parameters: int = 0  # number of parameters of the current test
    passed: list = field(default_factory=list)
    failed: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    result: str = None

    def fault(self):
        """Return why the suite did not pass; None if it passed."""
        if self.failed:
            return "; ".join([f"{len(self.failed)} failed: {', '.join(self.failed[:4])}",
                              *self.notes[:4]])
        if self.result is None:
            return "cut short: no result of the suite"
        if self.plan is None or self.seen != self.plan:
            return f"cut short: {self.seen} of {self.plan} tests"
        if self.result != "ok":
            return "the suite failed"
        if not self.passed:
            return "ran nothing"
        return None


def parse(console):
    """Return the suites in their order. A suite's lines are indented by four, its cases' by more."""
    suites, now = [], None
    for raw in console.splitlines():
        line = PREFIX.sub("", raw)
        if (found := SUBTEST.match(line)) and len(found[1]) == 4:
            now = Suite(found[2])
            suites.append(now)
        elif now is None:
            continue
        elif (found := PLAN.match(line)) and len(found[1]) == 4:
            now.plan = int(found[2])
        elif found := RESULT.match(line):
            now = note_result(now, found, " # SKIP" in line)
        elif line.startswith("    # "):
            now.notes.append(line.strip(" #"))
    return suites


def note_result(suite, found, skipped):
    """Record a result line. Return the present suite, or None after its own result."""
    depth, word, name = len(found[1]), found[2], found[4]
    if not depth:
        suite.result = word
        return None
    if depth > 4:
        suite.parameters += 1
    # In a test with parameters, each parameter has a result.
    counts = depth > 4 or not suite.parameters
    if depth == 4:
        suite.seen += 1
        suite.parameters = 0
    if word == "ok" and counts and not skipped:
        suite.passed.append(name)
    if word != "ok" and counts:
        suite.failed.append(name)
    return suite


def judge(console, expected, done):
    """Return (PASS or FAIL, name, why) for each suite, and for other messages of the kernel."""
    suites = parse(console)
    lines = []
    for suite in suites:
        fault = suite.fault()
        lines.append(("FAIL", suite.name, fault) if fault else
                     ("PASS", suite.name, f"{len(suite.passed)} cases"))
    names = [suite.name for suite in suites]
    lines += [("FAIL", name, "did not run") for name in expected if name not in names]
    wrong = bad_lines(console) + [line for line in console.splitlines()
                                  if "Kernel panic" in line or "unreferenced object" in line]
    wrong += [found[1] for line in console.splitlines() if (found := LANE.match(line))]
    if done not in console.splitlines():
        wrong.append("the guest did not come to its end")
    if wrong:
        lines.append(("FAIL", "kernel", wrong[0]))
    elif not names:
        lines.append(("FAIL", "kernel", "no suite ran"))
    else:
        lines.append(("PASS", "kernel", "loaded, unloaded, no complaint"))
    return lines
