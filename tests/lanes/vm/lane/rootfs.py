# SPDX-License-Identifier: LGPL-2.1-or-later
"""
The root disk of guests: a small Debian with systemd. It has the same release as this machine, which
builds the programs that guests run, unless the caller names another.
"""

import shutil
from pathlib import Path

from .apt import debootstrap, host_release
from .cache import cached, content_key, run_tool
from .kernel import GUEST

PACKAGES = ("systemd", "systemd-sysv", "dbus", "kmod", "udev", "libbpf1", "liburing2",
            "libdw1", "libelf1", "libjson-c5", "libsqlite3-0", "procps", "jq")
DISK_SIZE = "1G"

# Units that tests do not need and that would lengthen an emulated boot: login consoles, periodic
# maintenance, networks, hardware databases.
MASKED = """
apt-daily.service apt-daily.timer apt-daily-upgrade.service apt-daily-upgrade.timer
dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
getty.target getty-static.service console-getty.service autovt@.service getty@.service
ldconfig.service systemd-tmpfiles-clean.timer systemd-hwdb-update.service
systemd-journal-catalog-update.service systemd-journal-flush.service
systemd-networkd.service systemd-networkd.socket systemd-networkd-wait-online.service
systemd-network-generator.service systemd-pstore.service systemd-random-seed.service
systemd-rfkill.service systemd-rfkill.socket systemd-update-utmp.service
systemd-update-utmp-runlevel.service systemd-machine-id-commit.service
systemd-firstboot.service systemd-boot-system-token.service systemd-update-done.service
systemd-remount-fs.service systemd-sysusers.service proc-sys-fs-binfmt_misc.automount
modprobe@.service dev-hugepages.mount dev-mqueue.mount sys-fs-fuse-connections.mount
sys-kernel-config.mount
""".split()
GENERATORS = ("systemd-getty-generator", "systemd-gpt-auto-generator",
              "systemd-cryptsetup-generator", "systemd-veritysetup-generator",
              "systemd-hibernate-resume-generator", "systemd-integritysetup-generator")
NO_DOCS = ("--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*",
           "--dpkgopt=path-exclude=/usr/share/locale/*", "--dpkgopt=path-exclude=/usr/share/info/*",
           "--dpkgopt=path-exclude=/usr/lib/udev/hwdb.d/*")


def mask(root):
    units = root / "etc/systemd/system"
    for name in MASKED:
        unit = units / name
        unit.unlink(missing_ok=True)
        unit.symlink_to("/dev/null")
    generators = root / "etc/systemd/system-generators"
    generators.mkdir(exist_ok=True)
    for name in GENERATORS:
        (generators / name).symlink_to("/dev/null")


def configure(root):
    """Configure the system so that it boots quickly and without questions into ci.target, the job."""
    mask(root)
    (root / "etc/fstab").write_text("")
    (root / "etc/hostname").write_text("speprof-vm\n")
    (root / "etc/machine-id").write_text("5e9e0f00000000000000000000000001\n")
    journald = root / "etc/systemd/journald.conf.d"
    journald.mkdir(exist_ok=True)
    (journald / "volatile.conf").write_text(
        "[Journal]\nStorage=volatile\nRateLimitBurst=0\nForwardToConsole=no\n")
    system = root / "etc/systemd/system"
    for name in ("ci.service", "ci.target"):
        shutil.copyfile(GUEST / name, system / name)
    (system / "default.target").unlink(missing_ok=True)
    (system / "default.target").symlink_to("ci.target")
    runner = root / "usr/lib/ci-run"
    shutil.copyfile(GUEST / "ci-run", runner)
    runner.chmod(0o755)
    (root / "etc/udev/hwdb.bin").unlink(missing_ok=True)
    (root / "usr/lib/udev/hwdb.bin").unlink(missing_ok=True)


def build_rootfs(packages, suite, into):
    root = debootstrap("root image", packages, into, "--variant=minbase", *NO_DOCS, suite=suite)
    configure(root)
    run_tool(["mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-m", "0", "-d", root,
              into / "root.ext4", DISK_SIZE], "root disk")
    shutil.rmtree(root)


def root_disk(extra=(), suite=None):
    """Return the root disk of Debian SUITE with PACKAGES and the extra ones, from the cache."""
    suite = suite or host_release()
    packages = sorted(set(PACKAGES) | set(extra))
    own = sorted(p for p in GUEST.iterdir() if not p.name.startswith("init"))
    key = content_key(suite, " ".join(packages), Path(__file__), *own)
    entry = cached("root-amd64", key, lambda into: build_rootfs(packages, suite, into))
    return entry / "root.ext4"
