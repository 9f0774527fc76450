# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provide what the tests of the command share. Their arguments begin with SPEPROF FAKE-DAEMON."""
import atexit
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDINGS = os.path.join(os.path.dirname(HERE), "golden")
FULL = os.path.join(RECORDINGS, "perf-arm64-full.perf.data")
LOADS = os.path.join(RECORDINGS, "perf-arm64-loads.perf.data")
BRANCH = os.path.join(RECORDINGS, "perf-arm64-branch.perf.data")
UPDATE = "--update" in sys.argv
SPEPROF, FAKE = [os.path.abspath(path) for path in sys.argv[1:3]]

OK, FAILED, USAGE, NO_FILE, UNREADABLE, EMPTY, NO_RECORDING, DAMAGED = range(8)
NO_BUS, NO_DAEMON, NO_RIGHT, NO_MODULE, NO_SPE, STATE, SETTING = range(8, 15)


def environment(**more):
	env = {key: os.environ[key] for key in ("PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS")
	       if key in os.environ}
	return {**env, "LC_ALL": "C.UTF-8", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus", **more}


@functools.cache
def preload(library):
	"""Return the value of LD_PRELOAD for @library. A sanitizer's library must come first if the program has
	one."""
	got = subprocess.run(["ldd", SPEPROF], stdout=subprocess.PIPE, text=True, check=False).stdout
	return ":".join([*re.findall(r"=> (\S*lib[au]\w*san\S*)", got), library])


def program_for(user):
	"""Return the path of the command for @user. Other users cannot read a build below root's
	home, so copy the command once."""
	if user is None:
		return SPEPROF
	copy = os.path.join(tempfile.gettempdir(), f"speprof-cli-{os.getpid()}")
	if not os.path.exists(copy):
		shutil.copy(SPEPROF, copy)
		os.chmod(copy, 0o755)
		atexit.register(os.unlink, copy)
	return copy


def speprof(*args, stdin=None, user=None, **env):
	return subprocess.run([program_for(user), *args], input=b"" if stdin is None else stdin,
			      stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
			      timeout=600, user=user, env=environment(**env))


def find_code(function):
	"""Return the build id of the fake daemon, and the offset of a function in its file."""
	text = subprocess.run(["readelf", "-nlsW", FAKE], stdout=subprocess.PIPE, text=True, check=True).stdout
	address = int(re.search(rf"^ *\d+: (\w+) .* {function}$", text, re.M)[1], 16)
	for offset, start, size in re.findall(r"^ +LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", text, re.M):
		if int(start, 16) <= address < int(start, 16) + int(size, 16):
			return re.search(r"Build ID: (\w+)", text)[1], address - int(start, 16) + int(offset, 16)
	raise RuntimeError(f"{FAKE} has no code of {function}")


class Case(unittest.TestCase):
	maxDiff = None

	def setUp(self):
		self.dir = tempfile.mkdtemp(prefix="speprof-cli-")
		self.addCleanup(shutil.rmtree, self.dir)

	def file(self, name, content):
		path = os.path.join(self.dir, name)
		os.makedirs(os.path.dirname(path), exist_ok=True)
		with open(path, "wb") as file:
			file.write(content)
		return path

	def sentence(self, got, status, *words):
		"""Check that @got has this exit status, and one line on standard error that contains these
		words."""
		text = got.stderr.decode()
		self.assertEqual(got.returncode, status, text)
		self.assertEqual(text.count("\n"), 1, text)
		self.assertTrue(text.startswith("speprof: "), text)
		for word in words:
			self.assertIn(word, text)

	def instruction_rows(self, **changes):
		"""Write the reply of the fake daemon to a query for instructions (FAKE_ROWS): one of its own
		get_view(). Return the file, and the samples and share of the instruction as text."""
		got = speprof("report", "-j", "-n", "1", "-G", "binary,build_id,instruction", FULL)
		report = json.loads(got.stdout)
		build_id, offset = find_code("get_view")
		report["rows"] = [{**report["rows"][0], "binary": FAKE, "build_id": build_id,
				   "instruction": hex(offset), **changes}]
		samples = report["rows"][0]["samples"]
		return (self.file("rows", json.dumps(report).encode()), f"{samples:,}",
			f"{100 * samples / report['totals']['records']:.1f} %")

	def golden(self, name, got, status=OK):
		self.assertEqual(got.returncode, status, got.stderr)
		path = os.path.join(HERE, "golden", name)
		if UPDATE:
			with open(path, "wb") as file:
				file.write(got.stdout)
		with open(path, "rb") as file:
			self.assertEqual(got.stdout.decode(), file.read().decode())


class Bus:
	"""Run a private bus, and the fake daemon on it unless @mode is None."""

	def __init__(self, case, mode="normal", **env):
		self.env = env
		self.address = "unix:path=" + os.path.join(case.dir, "bus")
		self.procs = []
		bus = self.start(["dbus-daemon", "--session", "--nofork", "--nopidfile",
				  "--address=" + self.address, "--print-address=1"])
		case.addCleanup(self.stop)
		bus.stdout.readline()
		if mode is not None:
			fake = self.start([FAKE, self.address, mode])
			if fake.stdout.readline() != b"ready\n":
				raise RuntimeError("the stand-in of the daemon did not start")

	def start(self, command):
		proc = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(**self.env))
		self.procs.append(proc)
		return proc

	def stop(self):
		for proc in reversed(self.procs):
			proc.kill()
			proc.wait()
			proc.stdout.close()

	def run(self, *args, **env):
		return speprof(*args, DBUS_SYSTEM_BUS_ADDRESS=self.address, **env)


def main(arguments=2):
	"""Run all tests, or those that the command line names after its first arguments."""
	if not shutil.which("dbus-daemon"):
		print("skipped: dbus-daemon is not installed")
		sys.exit(77)
	names = [name for name in sys.argv[1 + arguments:] if not name.startswith("--")]
	unittest.main(argv=[sys.argv[0], *names])
