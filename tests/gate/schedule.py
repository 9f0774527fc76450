# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Run lanes in parallel, of which at most one may have guests.

A guest has as many CPUs as most machines that run the gate. CPUs of guests wait for each other in loops, so two
guests at the same time take longer than one after the other. Other lanes run with nice(1) beside a guest.
Niceness has no effect on Meson's tests: each is a separate session, and the kernel gives all sessions equal
weight (sched(7), autogroup). So guests start when the lanes with Meson's tests have ended.

Three lanes run at a time. Each waits sometimes: for a mirror, for one thread that unpacks, or for a guest that
boots. With two lanes both may wait, and a CPU is idle.
"""

import threading
import time


class Schedule:
    """Run lanes, given by name in their order. RUN_LANE runs one lane by its name."""

    def __init__(self, lanes, names, report, run_lane):
        self.lanes = lanes
        self.report = report
        self.run_lane = run_lane
        self.waiting = list(names)
        self.unfinished = set(names)
        self.guest_runs = False
        self.change = threading.Condition()

    def needs_unfinished(self, name):
        """Return true if a lane that NAME needs has not ended, also through lanes that are not part of this
        run."""
        return any(need in self.unfinished or self.needs_unfinished(need) for need in self.lanes[name].needs)

    def may_start(self, name):
        return not self.needs_unfinished(name) and not (self.guest_runs and self.lanes[name].guest)

    def take(self):
        """Return the first lane that may start; None if none is left."""
        with self.change:
            while self.waiting:
                for name in filter(self.may_start, self.waiting):
                    self.waiting.remove(name)
                    self.guest_runs = self.guest_runs or self.lanes[name].guest
                    return name
                self.change.wait()
        return None

    def run_one(self, name):
        began = time.monotonic()
        try:
            self.run_lane(name)
        except Exception as error:  # pylint: disable=broad-except
            self.report.add(name, "FAIL", "lane", f"{type(error).__name__}: {error}")
        finally:
            with self.change:
                self.unfinished.discard(name)
                self.guest_runs = self.guest_runs and not self.lanes[name].guest
                self.change.notify_all()
        self.report.say(f"---- lane {name}: {time.monotonic() - began:.0f} s")

    def work(self):
        while name := self.take():
            self.run_one(name)

    def run(self, at_once):
        threads = [threading.Thread(target=self.work) for _ in range(at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
