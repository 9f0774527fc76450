# SPDX-License-Identifier: LGPL-2.1-or-later
"""Map the paths of a change to the lanes that test it, in addition to the quick ones. The first rule that
matches a path decides."""

import re
import subprocess

GUESTS = ("guests-6.12", "guests-6.1", "guests-newest", "guests-arm64")
PACKAGES = ("packages", "packages-13")
# They build the modules with DKMS.
DKMS = ("packages", "packages-6.1")
CONTAINERS = ("containers-6.12", "containers-6.1")
IMAGES = ("image", "image-arm64")
USERSPACE = ("plain", "sanitized", "tidy", "gcc14-tests", "arm64-tests", "guests-6.12")

RULES = tuple((re.compile(pattern), lanes) for pattern, lanes in (
    (r"kmod/core/", ("plain", "tidy", "gcc14-tests", "arm64-tests", "mutants", "fuzz-long", "kunit-all", "sparse", "modules-newest",
                    "guests-6.12", *DKMS)),
    (r"(kmod|uapi)/|Kbuild$", ("plain", "sparse", "modules-newest", "kunit-all", "kasan", *GUESTS, *DKMS)),
    (r"daemon/tasks/", (*USERSPACE, "guests-6.1", *CONTAINERS)),
    (r"daemon/data/", ("plain", "guests-6.12", "packages")),
    (r"daemon/(attribution|symbols)/", (*USERSPACE, "fuzz-long", "containers-6.12")),
    (r"daemon/(util|source|recording|filter|output)/", (*USERSPACE, "fuzz-long", "guests-arm64")),
    # The live page shows what these folders return.
    (r"daemon/(dbus|query|history-store)/", (*USERSPACE, "guests-arm64", "html")),
    (r"(daemon|lib)/", (*USERSPACE, "guests-arm64")),
    (r"exporter/", ("plain", "sanitized", "tidy", "arm64-tests", "fuzz-long", "fleet", "html", "guests-6.12", "packages")),
    (r"(tools|tests)/html/|tools/html-report\.[ch]$", ("plain", "tidy", "html")),
    (r"(tools/(pgo|trace)|tests/bolt)/|tools/pgo\.c$", (*USERSPACE, "tutorial", "bolt")),
    (r"tools/diff\.c$", (*USERSPACE, "tutorial", "html")),
    (r"(tools|demo)/", (*USERSPACE, "tutorial")),
    (r"packaging/(grafana|prometheus)/", ("plain", "fleet", "packages", "rpm")),
    (r"packaging/(rpm|dkms)/", (*DKMS, "rpm")),
    (r"debian/", (*PACKAGES, "packages-6.1", "packages-arm64", "rpm", "image")),
    (r"packaging/portable/|scripts/build-tarball$|tests/lanes/packages/tarball$", ("tarball",)),
    (r"packaging/kubernetes/", ("kubernetes", "image")),
    (r"packaging/container/|tests/lanes/packages/image$", IMAGES),
    (r"packaging/", (*PACKAGES, "image")),
    (r"Documentation/(tutorial|howto)/|tests/lanes/packages/tutorial$", ("tutorial",)),
    (r"tests/lanes/vm/(job-tutorial|lane/pages\.py)$", ("plain", "tutorial")),
    (r"tests/service/", ("plain", "sanitized", *GUESTS)),
    (r"tests/lanes/vm/(job-(containers|engines|hostile|maps)$|containers\.bash$|cri$)", CONTAINERS),
    (r"tests/lanes/vm/", ("plain", *GUESTS)),
    (r"tests/lanes/kunit/", ("kunit-all",)),
    (r"tests/cases/", ("plain", "kunit-all", "mutants", "guests-6.12")),
    (r"tests/mutate/", ("mutants",)),
    (r"tests/fuzz/", ("fuzz-long",)),
    (r"tests/lanes/packages/(kubernetes|check-schemas\.mjs)$", ("kubernetes",)),
    (r"tests/lanes/packages/rpm$|scripts/build-rpm$", ("rpm",)),
    (r"scripts/stage-module$", ("packages", "rpm")),
    (r"tests/lanes/packages/", (*PACKAGES, "packages-6.1", "packages-arm64", *IMAGES)),
    (r"tests/exporter/", ("plain", "sanitized", "fleet")),
    (r"tests/tidy$|\.clang-tidy$", ("tidy",)),
    (r"tests/modules$", ("sparse",)),
    (r"tests/modules-newest$", ("modules-newest",)),
    (r"scripts/(build-modules|kernel-headers|debian-sources)$", ("sparse", "modules-newest", "guests-newest", "targets", "fresh-12")),
    (r"tests/lanes/arm64/", ("arm64-tests",)),
    (r"tests/debian13$", ("gcc14-tests",)),
    (r"tests/(targets|fresh)$|Makefile$|README\.md$", ("targets", "fresh-12", "fresh-13")),
    (r"scripts/(build-deb|deps)$", (*PACKAGES, "targets", "fresh-12", "fresh-13")),
    (r"scripts/|(.*/)?meson(_options)?\.(build|txt)$", ("plain", "targets", "fresh-12")),
    (r"tests/cli/", ("plain", "sanitized")),
    (r"tests/", ("plain",)),
    # The quick lanes cover these paths.
    (r"Documentation/|LICENSES/|\.ci/|\.[a-z-]+$|[A-Z]+\.md$", ()),
))


def lanes_of(path):
    """Return the lanes of the rule for PATH; None without a matching rule."""
    return next((lanes for pattern, lanes in RULES if pattern.match(path)), None)


def changed_paths(base, root):
    """Return all paths that differ from commit BASE in the work tree at ROOT, and untracked ones."""
    def git(*argv):
        return subprocess.run(["git", "-C", root, *argv], text=True, stdout=subprocess.PIPE,
                              check=True).stdout.split("\0")
    return sorted(filter(None, {*git("diff", "--name-only", "-z", base, "--"),
                                *git("ls-files", "--others", "--exclude-standard", "-z")}))
