# SPDX-License-Identifier: LGPL-2.1-or-later
"""
List every lane of tests, in the order in which they start.

QUICK lanes are "make check": together they cover each component once, and share a limit of 15 minutes on two
CPUs with empty caches. A lane that would exceed the limit belongs to "make check-all". Lanes with guests need
the lanes with Meson's tests (schedule.py gives the reason).
"""

from dataclasses import dataclass
from typing import Callable

# Use optimization level 1 and only line tables: compilation takes 40 % less CPU time than with
# level 2 and -g.
SANITIZERS = ("-Db_sanitize=address,undefined", "-Doptimization=1", "-Dc_args=-g1")
SANITIZED = {"UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
             "ASAN_OPTIONS": "detect_stack_use_after_return=1"}


@dataclass(frozen=True)
class Lane:
    """Describe a lane. RUN is called with a LaneRun. GUEST: the lane boots guests. NEEDS: lanes
    that must end before this lane starts."""
    what: str
    run: Callable
    needs: tuple = ()
    guest: bool = False
    quick: bool = False


# Suites of Meson's tests that start the daemon, the command and the exporter, hundreds of times. With
# sanitizers, the start of a program takes ten times as long.
PROGRAMS = ("cli", "service")
# Suites that take minutes, so only lane plain runs them. The demo compares shares with CPU times, and
# the traces compare counts with QEMU's log: sanitizers change neither. The tests of suite long are
# parts of unit tests that repeat one step for each place where it can fail.
LONG = ("demo", "traces", "long")


def sanitized(**choice):
    """Return a lane with Meson's tests under ASan and UBSan. CHOICE selects suites as LaneRun.meson_tests() does."""
    def run(lane):
        folder = lane.build.with_name(lane.build.name + "-asan")
        if lane.compile(folder, *SANITIZERS, env=SANITIZED):
            lane.meson_tests(folder, **choice, env=SANITIZED)
    return run


def build(lane):
    if lane.compile(lane.build):
        lane.add("PASS", "all", "every program compiles without a warning")


def programs(lane):
    lane.meson_tests(lane.build, only=PROGRAMS)


def plain(lane):
    if lane.compile(lane.build):
        lane.meson_tests(lane.build, leave_out=PROGRAMS)


def script(*argv, **env):
    """Return a lane that runs a script. "BUILD" in its arguments is replaced with the build directory."""
    def run(lane):
        lane.script(*(lane.build if word == "BUILD" else word for word in argv), env=env)
    return run


def guests(kernel, *jobs):
    """Return a lane that runs these jobs of tests/lanes/vm/check on one kernel."""
    def run(lane):
        lane.script("tests/lanes/vm/check", "--build", lane.build, *(word for job in jobs for word in ("--only", job)), kernel)
    return run


def quick_modules(*targets):
    return script("tests/modules", "--quick", "--build", "BUILD", *targets)


MESON = ("build", "unit", "programs")
# Lanes that compute without pause start beside the guests, which leave a third of two CPUs idle.
BEFORE_GUESTS = (*MESON, "modules")
ALL_MESON = (*MESON, "plain", "sanitized")

QUICK = {
    "build": Lane("userspace, without a warning", build, quick=True),
    "unit": Lane("unit tests under ASan and UBSan", sanitized(leave_out=(*PROGRAMS, *LONG)), quick=True),
    "programs": Lane("tests of the command, the service and the exporter", programs, needs=("build",), quick=True),
    "modules": Lane("the modules for Linux 6.12, W=1", quick_modules("amd64-6.12@cloud-amd64", "arm64-6.12"), quick=True),
    "guest-amd64": Lane("module, emulated SPU and daemon under systemd, in a guest",
                        guests("6.12", "job-kmod", "job-record", "job-systemd"), needs=BEFORE_GUESTS, guest=True, quick=True),
    "guest-arm64": Lane("the hardware backend on the trap, in a guest",
                        script("tests/lanes/vm/check-arm64", "--build", "BUILD", "arm64-6.12"), needs=BEFORE_GUESTS,
                        guest=True, quick=True),
    "modules-6.1": Lane("the modules for Linux 6.1, W=1", quick_modules("amd64-6.1@cloud-amd64", "arm64-6.1"), needs=BEFORE_GUESTS,
                        quick=True),
    "style": Lane("what reading can check", script("tests/style", "BUILD"), needs=BEFORE_GUESTS, quick=True),
    "kunit": Lane("the KUnit suites on User-Mode Linux 6.12",
                  script("tests/lanes/kunit/run-kunit", "--build", "BUILD", "--no-planted", "6.12-uml"), needs=BEFORE_GUESTS,
                  quick=True),
    "fuzz": Lane("every fuzzer: its corpus and a fixed number of inputs", script("tests/fuzz/run-fuzzers", "--fixed"),
                 needs=BEFORE_GUESTS, quick=True),
    "arm64": Lane("userspace cross-built for arm64", script("tests/lanes/arm64/cross-build", "--build-only", "BUILD"),
                  needs=BEFORE_GUESTS, quick=True),
    "gcc14": Lane("userspace by Debian 13's compiler, with its libraries",
                  script("tests/debian13", "--build-only", "BUILD"), needs=BEFORE_GUESTS, quick=True),
}

ALL = QUICK | {
    "plain": Lane("unit tests without sanitizers; races of threads; the demo; traces of programs", plain, needs=MESON),
    "sanitized": Lane("tests of the command, the service and the exporter under ASan and UBSan", sanitized(only=PROGRAMS),
                      needs=("plain",)),
    "gcc14-tests": Lane("the unit tests as Debian 13's compiler builds them", script("tests/debian13", "BUILD"),
                        needs=("gcc14", "plain")),
    "arm64-tests": Lane("the unit tests under arm64 user emulation", script("tests/lanes/arm64/cross-build", "BUILD"), needs=("arm64", "plain")),
    "sparse": Lane("the modules for every kernel, sparse too", script("tests/modules", "--build", "BUILD"), needs=("plain",)),
    "modules-newest": Lane("the modules for Linux 7.2 and 7.3, with Debian 13's compiler",
                           script("tests/modules-newest", "BUILD"), needs=("modules", "plain")),
    "tidy": Lane("clang-tidy", script("tests/tidy", "BUILD"), needs=("plain",)),
    "fuzz-long": Lane("every fuzzer, ten times as long", script("tests/fuzz/run-fuzzers"), needs=("fuzz", "plain")),
    "kunit-all": Lane("KUnit on 6.1 and 6.12, planted bugs, KASAN and lockdep",
                      script("tests/lanes/kunit/run-kunit", "--build", "BUILD", "6.1-uml", "6.12-uml", "6.12-uml-debug"),
                      needs=("kunit", "plain")),
    "mutants": Lane("each condition of the model flipped", script("tests/mutate/run-mutants"), needs=("plain",)),
    "guests-6.12": Lane("every job on stock 6.12", script("tests/lanes/vm/check", "--build", "BUILD", "--selftest", "6.12"),
                        needs=ALL_MESON, guest=True),
    "guests-6.1": Lane("every job on stock 6.1", script("tests/lanes/vm/check", "--build", "BUILD", "6.1"),
                       needs=ALL_MESON, guest=True),
    "guests-newest": Lane("test cases, module, emulated SPU and daemon on Linux 7.3",
                          guests("7.3", "job-cases", "job-kmod", "job-record", "job-systemd"),
                          needs=(*ALL_MESON, "modules-newest"), guest=True),
    "guests-arm64": Lane("every row of arm64", script("tests/lanes/vm/check-arm64", "--build", "BUILD", "--everything"),
                         needs=ALL_MESON, guest=True),
    "kasan": Lane("every job under KASAN, lockdep and kmemleak", script("tests/lanes/vm/check", "--build", "BUILD", "6.12-kasan"),
                  needs=ALL_MESON, guest=True),
    "containers-6.12": Lane("real containers and hostile loads on 6.12",
                            script("tests/lanes/vm/check", "--build", "BUILD", "--containers", "6.12"), needs=ALL_MESON, guest=True),
    "containers-6.1": Lane("real containers and hostile loads on 6.1",
                           script("tests/lanes/vm/check", "--build", "BUILD", "--containers", "6.1"), needs=ALL_MESON, guest=True),
    "packages": Lane("Debian packages, DKMS for 6.12",
                     script("tests/lanes/packages/check", "--build", "BUILD", "--reload"), needs=ALL_MESON, guest=True),
    "packages-6.1": Lane("Debian packages, DKMS for 6.1",
                         script("tests/lanes/packages/check", "--build", "BUILD", "--kernel", "6.1", "--reload"),
                         needs=("packages",), guest=True),
    "packages-13": Lane("Debian packages built on Debian 13, and the upgrade from those of Debian 12",
                        script("tests/lanes/packages/debian13", "BUILD"), needs=("packages",), guest=True),
    "packages-arm64": Lane("Debian packages for arm64", script("tests/lanes/packages/cross", "--build", "BUILD"),
                           needs=("packages",), guest=True),
    "tarball": Lane("the tarball with its own loader and libraries, in a root with only busybox",
                    script("tests/lanes/packages/tarball", "--build", "BUILD"), needs=("plain",)),
    "kubernetes": Lane("kustomize overlays, against the schemas of Kubernetes", script("tests/lanes/packages/kubernetes"),
                       needs=("build",)),
    "html": Lane("HTML reports: in a browser, against the JSON of the same recordings", script("tests/html/check", "BUILD"),
                 needs=("plain",)),
    "bolt": Lane("programs that BOLT optimises with the profiles of speprof pgo", script("tests/bolt/check", "BUILD"),
                 needs=("plain",)),
    "rpm": Lane("RPM packages: their files, installation in an empty root, akmods",
                script("tests/lanes/packages/rpm", "--build", "BUILD"), needs=("plain",)),
    "tutorial": Lane("the commands of tutorials and how-tos, as printed, in a guest",
                     script("tests/lanes/packages/tutorial", "--build", "BUILD"), needs=("packages",), guest=True),
    "image": Lane("the container image", script("tests/lanes/packages/image", "--build", "BUILD"), needs=("packages",), guest=True),
    "image-arm64": Lane("the container image on arm64", script("tests/lanes/packages/image", "--build", "BUILD", "--arch", "arm64"),
                        needs=("packages",), guest=True),
    "fleet": Lane("the exporter with Prometheus, VictoriaMetrics and go tool pprof; a hundred machines",
                  script("tests/exporter/fleet", "BUILD"), needs=("plain",)),
    "targets": Lane("each target of make help but check, check-all and check-fresh, which are the gate itself",
                    script("tests/targets"), needs=ALL_MESON, guest=True),
    "fresh-12": Lane("both commands of the README on a bare Debian 12", script("tests/fresh", "bookworm"), guest=True,
                     needs=ALL_MESON),
    "fresh-13": Lane("both commands of the README on a bare Debian 13", script("tests/fresh", "trixie"), guest=True,
                     needs=ALL_MESON),
}
