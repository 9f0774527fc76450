# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Runs lanes a few at a time, of which one may have guests.

A guest has as many CPUs as most machines that run this. CPUs of guests wait for each other in
loops, so two guests at once take longer than one after the other. Other lanes run niced beside a
guest. Niceness has no effect on Meson's tests: each is a session of its own, and the kernel gives
all sessions equal weight (sched(7), autogroup). So guests start when the lanes with Meson's tests
have ended.

Three lanes run at a time. Each waits now and then: for a mirror, for one thread that unpacks, for a
guest that boots. With two lanes both may wait, and a CPU is idle.
"""

import threading
import time


class Schedule:
    """Lanes by name, in the order in which they start. RUN_LANE runs one by its name."""

    def __init__(self, lanes, names, report, run_lane):
        self.lanes = lanes
        self.report = report
        self.run_lane = run_lane
        self.waiting = list(names)
        self.unfinished = set(names)
        self.guest_runs = False
        self.change = threading.Condition()

    def needs_unfinished(self, name):
        """Return whether a lane that NAME needs has not ended. Lanes between the two need not be in this run."""
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
