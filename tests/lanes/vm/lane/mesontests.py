# SPDX-License-Identifier: LGPL-2.1-or-later
"""Collect the results of Meson's tests: each planned test has a result, even if Meson was killed."""

import json
from collections import Counter
from pathlib import Path

from . import LaneError

# Meson's limit for each test assumes an idle machine. On a busy machine a slow test is no failure.
TIME_FACTOR = "20"
RESULTS = {"OK": "PASS", "EXPECTEDFAIL": "PASS", "SKIP": "SKIP"}


def planned(folder):
    """Return the tests that Meson lists, in its order, as dictionaries."""
    plan = Path(folder) / "meson-info/intro-tests.json"
    return json.loads(plan.read_text(encoding="utf-8")) if plan.exists() else []


def default_targets(folder):
    """
    Return the files that a build makes by default, as arguments of ninja.

    Before 1.7, Meson also adds the programs of tests to ninja's target "all". "meson test" builds them.
    """
    folder = Path(folder).resolve()
    text = (folder / "meson-info/intro-targets.json").read_text(encoding="utf-8")
    return [str(Path(name).relative_to(folder)) for target in json.loads(text) if target["build_by_default"]
            for name in target["filename"] if Path(name).is_relative_to(folder)]


def chosen(folder, suites, left_out):
    """
    Return the names of the tests in SUITES, in Meson's order, without those LEFT_OUT.

    A name in LEFT_OUT that Meson does not list is an error: a test that was renamed would run.
    """
    tests = planned(folder)
    unknown = sorted(set(left_out) - {test["name"] for test in tests})
    if unknown:
        raise LaneError(f"Meson lists no test {', '.join(unknown)}: correct the names that this lane leaves out")
    return [test["name"] for test in tests
            if test["name"] not in left_out and {suite.split(":")[-1] for suite in test["suite"]} & set(suites)]


def log_of(folder):
    return Path(folder) / "meson-logs/testlog.json"


def logged(folder):
    """Return the tests that ended. If Meson was killed the last line may be incomplete."""
    log = log_of(folder)
    tests = []
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        try:
            test = json.loads(line)
        except ValueError:
            continue
        tests.append({**test, "name": test["name"].split(" / ")[-1]})
    return tests


def results(folder, names, status):
    """
    Return (PASS, FAIL or SKIP; name; reason; output of the test) for each of NAMES, after "meson test" ended
    with STATUS.
    """
    found = []
    for test in logged(folder):
        result = RESULTS.get(test["result"], "FAIL")
        out = test.get("stdout") or ""
        why = next((line.strip() for line in reversed(out.splitlines()) if line.strip()),
                   test["result"].lower())
        found.append((result, test["name"], "" if result == "PASS" else why,
                      (out, test.get("stderr") or "")))
    missing = Counter(names) - Counter(one[1] for one in found)
    found += [("FAIL", name, "it was to run, and did not", ("", "")) for name in missing.elements()]
    if not found:
        found.append(("FAIL", "tests", "none ran", ("", "")))
    elif status and not any(one[0] == "FAIL" for one in found):
        found.append(("FAIL", "tests", f"meson test: exit status {status}", ("", "")))
    return found
