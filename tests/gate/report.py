# SPDX-License-Identifier: LGPL-2.1-or-later
"""Count the results of all lanes. A lane is the tests of a build, or the lines of a script."""

import os
import re
import subprocess
import threading
from pathlib import Path

from lane.mesontests import TIME_FACTOR, default_targets, log_of, planned, results

ROOT = Path(__file__).resolve().parents[2]
# With this niceness, a lane beside guests gets a thirtieth of the CPU time while both compute.
NICE = ("nice", "-n", "15")
# AGAIN: QEMU failed, and the lane repeats the boot.
RESULT = re.compile(r"(PASS|FAIL|SKIP|AGAIN) ([^:\s]+):?\s*(.*)")
LISTED = {"SKIP": "Skipped:", "AGAIN": "Boots repeated because QEMU failed:"}


class Report:
    """Count results from any thread, and print them in order of arrival."""

    def __init__(self):
        self.count = {"PASS": 0, "FAIL": 0, "SKIP": 0, "AGAIN": 0}
        self.results = {}
        self.listed = {result: [] for result in LISTED}
        self.lock = threading.Lock()

    def say(self, text):
        with self.lock:
            print(text, flush=True)

    def add(self, lane, result, name, why=""):
        """Count one result of LANE and print it."""
        with self.lock:
            self.count[result] += 1
            self.results.setdefault(lane, []).append((result, name, why))
            if result in LISTED:
                self.listed[result].append(f"{lane}/{name}: {why}")
            print(f"{result} {lane}/{name}{': ' + why if why else ''}", flush=True)

    def has_failed(self, lane):
        return any(result == "FAIL" for result, _, _ in self.results.get(lane, []))

    def close(self):
        """Print the closing lines. Return the exit status."""
        for result, heading in LISTED.items():
            if self.listed[result]:
                print("\n  ".join((heading, *self.listed[result])))
        passed, failed, skipped, repeated = (self.count[key] for key in ("PASS", "FAIL", "SKIP", "AGAIN"))
        print(f"{passed} passed, {failed} failed, {skipped} skipped{f', {repeated} repeated' * bool(repeated)}",
              flush=True)
        return 1 if failed or not passed else 0


class LaneRun:
    """Describe a running lane: its name, whether it has guests, and its report."""

    def __init__(self, report, name, build, guest=False):
        self.report = report
        self.name = name
        self.build = build
        self.guest = guest

    def add(self, result, name, why=""):
        self.report.add(self.name, result, name, why)

    def command(self, argv, env=None):
        """Run a command until it exits. Return its exit status and its output."""
        done = subprocess.run([str(a) for a in argv], cwd=ROOT, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, env=dict(os.environ, **(env or {})))
        return done.returncode, done.stdout

    def script(self, *argv, env=None):
        """Run a script that prints PASS, FAIL, SKIP or AGAIN lines."""
        seen = 0
        nice = () if self.guest else NICE
        with subprocess.Popen([*nice, *(str(a) for a in argv)], cwd=ROOT, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, **(env or {}))) as process:
            for line in process.stdout:
                if found := RESULT.match(line):
                    seen += found[1] != "AGAIN"
                    self.add(found[1], found[2], found[3])
                else:
                    self.report.say(f"    {self.name}: {line.rstrip()}")
        if not seen:
            self.add("FAIL", "lane", "ran nothing")
        elif process.returncode not in (0, 77) and not self.report.has_failed(self.name):
            self.add("FAIL", "lane", f"exit status {process.returncode}")

    def configure(self, folder, *options, env=None):
        """Set up a build directory with all components of the project. Return false if that failed."""
        again = ["--reconfigure"] if (folder / "build.ninja").exists() else []
        status, text = self.command(["meson", "setup", folder, "-Dtests=enabled", "-Dbpf=enabled",
                                     "-Dexporter=enabled", "-Dwerror=true", *options, *again], env)
        if status:
            self.report.say(text[-8000:])
            self.add("FAIL", "setup")
        return not status

    def compile(self, folder, *options, env=None):
        """Set up a build directory and build all of it. Return false if that failed."""
        if not self.configure(folder, *options, env=env):
            return False
        status, text = self.command(["ninja", "-C", folder, *default_targets(folder)], env)
        if status:
            self.report.say(text[-8000:])
            self.add("FAIL", "build")
        return not status

    def meson_tests(self, folder, leave_out=(), only=(), env=None):
        """Run Meson's tests of a directory: the suites ONLY, or all except those to leave out. Each test has a result."""
        def is_chosen(test):
            suites = {suite.split(":")[-1] for suite in test["suite"]}
            return suites & set(only) if only else not suites & set(leave_out)
        names = [test["name"] for test in planned(folder) if is_chosen(test)]
        log_of(folder).unlink(missing_ok=True)
        suites = [word for suite in only for word in ("--suite", suite)]
        suites += [word for suite in leave_out for word in ("--no-suite", suite)]
        status, text = self.command(["meson", "test", "-C", folder, "-t", TIME_FACTOR, *suites], env)
        for result, name, why, wrote in results(folder, names, status):
            if result == "FAIL":
                self.report.say("".join(part[-6000:] for part in wrote) or text[-2000:])
            self.add(result, name, why)
