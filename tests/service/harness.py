# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provide a bus with speprofd's policy, a daemon with an emulated SPU, and clients of several users."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAME, PATH = "org.speprof1", "/org/speprof1"
MANAGER, SESSION, CPU = f"{NAME}.Manager", f"{NAME}.Session", f"{NAME}.CPU"
# UIDs of two users that no other user or parallel run has: the reader is in the group, and the other is not.
READER = 100000 + 2 * os.getpid()
OTHER = READER + 1
# UIDs of more users, which /etc/passwd must contain for the bus.
CROWD = [OTHER + 2 * i for i in range(1, 6)]
GROUP = 64000

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>{address}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus"/>
  </policy>
  <policy user="root">
    <allow own="org.freedesktop.PolicyKit1"/>
    <allow send_destination="org.freedesktop.PolicyKit1"/>
  </policy>
{more}
  <include>{policy}</include>
</busconfig>
"""


POLKITD = "/usr/lib/polkit-1/polkitd"
# These are rules of polkitd's own bus policy. The rules need the user polkitd, which exists only if
# polkitd is installed.
POLKITD_POLICY = """  <policy user="polkitd">
    <allow own="org.freedesktop.PolicyKit1"/>
    <allow send_type="method_call"/>
  </policy>
"""

RULES = f"""polkit.addRule(function(action, subject) {{
	if (action.id == "{NAME}.manage" && subject.user == "speprof-other")
		return polkit.Result.YES;
	if (action.id == "{NAME}.manage" && subject.user == "speprof-reader")
		return polkit.Result.NO;
}});
"""


def skip(why):
	print(why)
	sys.exit(77)


def need_users():
	"""Require root, and a group "speprof" in the mount namespace of this process."""
	if os.getuid():
		skip("root alone can be several users")
	for program in ("dbus-daemon", "busctl", "gdbus", "setpriv", "unshare"):
		if not shutil.which(program):
			skip(f"{program} is not installed")
	if os.environ.get("SPEPROF_TEST_MOUNTS"):
		return
	if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
		skip("no right to a mount namespace")
	os.environ["SPEPROF_TEST_MOUNTS"] = "1"
	os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])


def wait(done, what):
	"""Poll @done until it is true. The limit only ends a hang."""
	end = time.monotonic() + 600
	while not done():
		assert time.monotonic() < end, f"timed out waiting for {what}"
		time.sleep(0.05)


class Watch:
	"""Run a command that prints until it is ended, and collect its output and errors."""

	def __init__(self, *command):
		self.file = tempfile.TemporaryFile()
		self.process = subprocess.Popen(command, stdout=self.file, stderr=self.file)

	def said(self):
		return os.pread(self.file.fileno(), 1 << 24, 0).decode()

	def end(self):
		self.process.terminate()
		self.process.wait()
		self.file.close()


class Refused(Exception):
	"""Report an error reply of the bus, with its text."""


class Service:
	def __init__(self, daemon, folder, policy):
		os.chmod(folder, 0o755)
		# The bus looks up its clients by name.
		self.bind(folder, "/etc/group", [f"speprof:x:{GROUP}:speprof-reader"])
		self.bind(folder, "/etc/passwd", [f"speprof-reader:x:{READER}:{READER}::/:/bin/false",
						  f"speprof-other:x:{OTHER}:{OTHER}::/:/bin/false",
						  *[f"speprof-{uid}:x:{uid}:{uid}::/:/bin/false" for uid in CROWD]])
		self.daemon = daemon
		self.address = f"unix:path={folder}/bus"
		with open(f"{folder}/bus.conf", "w", encoding="utf-8") as file:
			file.write(BUS.format(address=self.address, policy=policy,
					      more=POLKITD_POLICY if os.path.exists(POLKITD) else ""))
		self.bus = subprocess.Popen(["dbus-daemon", f"--config-file={folder}/bus.conf", "--nofork"],
					    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		wait(lambda: os.path.exists(f"{folder}/bus"), "the bus's socket")
		self.process = None
		self.polkit = None

	@staticmethod
	def bind(folder, path, lines):
		"""Replace @path with a copy that has @lines, for this process and its children."""
		copy = os.path.join(folder, os.path.basename(path))
		with open(path, encoding="utf-8") as file:
			kept = [line for line in file if not line.startswith("speprof")]
		with open(copy, "w", encoding="utf-8") as file:
			file.writelines(kept + [f"{line}\n" for line in lines])
		subprocess.run(["mount", "--bind", copy, path], check=True)

	def start(self, *settings, address=None, config="/dev/null"):
		"""Start the daemon on the bus, or on a proxy of it, with @config and @settings."""
		settings = ("Source=emulated", "Emulate=yes", "Overhead=no", *settings)
		self.process = subprocess.Popen(
			[self.daemon, "--config", config, "--bus", address or self.address,
			 *[w for s in settings for w in ("--set", s)]], stderr=subprocess.PIPE, text=True)
		wait(lambda: self.process.poll() is not None or
		     not self.busctl("status", NAME).returncode, "the name on the bus")
		if self.process.poll() is not None:
			why = self.process.stderr.read()
			if "perf_event_open" in why:
				self.stop()
				skip(why.strip())
			raise AssertionError(why)

	def start_polkit(self, program, mode):
		self.stop_polkit()
		self.polkit = subprocess.Popen([program, self.address, mode], stdout=subprocess.PIPE,
					       text=True)
		wait(lambda: not self.busctl("status", "org.freedesktop.PolicyKit1").returncode, "polkit")

	def start_polkitd(self, actions):
		"""Start the real polkitd with only @actions, and with a rule for one user. Return true if it is
		installed."""
		if not os.path.exists(POLKITD):
			return False
		self.stop_polkit()
		for folder in ("/usr/share/polkit-1/actions", "/etc/polkit-1/rules.d"):
			subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", folder], check=True)
		shutil.copy(actions, "/usr/share/polkit-1/actions/")
		with open("/etc/polkit-1/rules.d/10-test.rules", "w", encoding="utf-8") as file:
			file.write(RULES)
		self.polkit = subprocess.Popen([POLKITD, "--no-debug"], stdout=subprocess.DEVNULL,
					       stderr=subprocess.DEVNULL,
					       env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address})
		wait(lambda: not self.busctl("status", "org.freedesktop.PolicyKit1").returncode, "polkitd")
		return True

	def stop_polkit(self):
		if self.polkit:
			self.polkit.terminate()
			self.polkit.wait()
			self.polkit = None

	@staticmethod
	def as_user(uid):
		"""Return the prefix of a command that runs as @uid. The reader is in the group."""
		if not uid:
			return []
		groups = f"--groups={GROUP}" if uid == READER else "--clear-groups"
		return ["setpriv", f"--reuid={uid}", f"--regid={uid}", groups]

	def run(self, *args, uid=0):
		"""Run a program as a user. Retry when the daemon limits the rate of the user's queries: on a busy
		machine, one query costs more time, and on a fast machine, queries follow each other faster."""
		end = time.monotonic() + 600
		while True:
			got = subprocess.run([*self.as_user(uid), *args], text=True, stdout=subprocess.PIPE,
					     stderr=subprocess.PIPE, check=False)
			if "Rate limit exceeded for this user" not in got.stderr or time.monotonic() > end:
				return got
			time.sleep(1)

	def busctl(self, *args, uid=0):
		return self.run("busctl", f"--address={self.address}", "--timeout=600", *args, uid=uid)

	def call(self, path, interface, method, *args, uid=0):
		got = self.busctl("--json=short", "call", NAME, path, interface, method, *args, uid=uid)
		if got.returncode:
			raise Refused(got.stderr.strip())
		return json.loads(got.stdout)["data"] if got.stdout.strip() else None

	def get(self, path, interface, name, uid=0):
		got = self.busctl("--json=short", "get-property", NAME, path, interface, name, uid=uid)
		if got.returncode:
			raise Refused(got.stderr.strip())
		return json.loads(got.stdout)["data"]

	def refused(self, *args, **more):
		try:
			self.call(*args, **more)
		except Refused as error:
			return str(error)
		raise AssertionError(f"{args} {more} was not refused")

	def denied(self, path, method, *args, uid):
		"""Return the error of a call by gdbus, which prints more than "access denied"."""
		got = self.run("gdbus", "call", "--address", self.address, "--dest", NAME, "--object-path", path,
			       "--timeout", "60", "--method", method, *args, uid=uid)
		assert got.returncode, f"{method} {args} was not refused: {got.stdout}"
		return got.stderr

	def end(self):
		if self.process and self.process.poll() is None:
			self.process.send_signal(signal.SIGTERM)
			assert self.process.wait(600) == 0, "speprofd did not end well: " + self.process.stderr.read()

	def stop(self):
		self.end()
		self.stop_polkit()
		self.bus.terminate()
		self.bus.wait()
