# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provide what the tests of the exporter share: snapshots, receivers, and programs to wait for."""
import http.client
import http.server
import itertools
import math
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time

LEVEL_L1, LEVEL_DRAM = 1, 10
HARDWARE, EMULATED = 1, 2
UNITS, LEVELS, BUCKETS = 4, 32, 64


def bucket(value):
	"""Return the exponential bucket of a latency, by Documentation/reference/metrics.md."""
	if value < 3:
		return value
	return max(3, math.ceil(round(4 * math.log2(value), 9)) - 2)


def tally(latencies, memory=(), remote=0, branches=0, mispredicted=0, early=(), times=1):
	"""Encode the counters of samples: samples, weight[4], memory, remote, branches,
	mispredicted, level[32], three histograms.

	@early: values of both the issue latency and the translation latency; @times: factor of all
	counters.
	"""
	words = [len(latencies), 0, 0, 1000 * len(latencies), 0, len(memory), remote, branches, mispredicted]
	levels = [0] * LEVELS
	for level in memory:
		levels[level] += 1
	words += levels
	for values in (latencies, early, early):
		buckets = [0] * BUCKETS
		for value in values:
			buckets[bucket(value)] += 1
		words += [sum(values), *buckets]
	return struct.pack(f"<{len(words)}Q", *(times * word for word in words))


COUNTERS = ("records", "written", "filtered", "bytes", "decoded", "padding", "suspect", "reserved", "lost", "enabled",
	    *(f"blind_{cause}" for cause in ("unknown", "full", "handling", "throttle", "handover", "fault", "restart",
					     "hotplug")),
	    "unattributed", "evicted", "threads_evicted", "processes_evicted", "containers_evicted",
	    "containers_overflow", "mappings_dropped", "events_lost", "faults", "throttles", "unread", "cpu_ns", "memory")


def snapshot(containers, backend=HARDWARE, epoch=1, age=0, stopped=0, interval=1000000, times=1, false_sharing=0,
	     **counters):
	"""Return the snapshot of a machine. @containers: {name: arguments of tally()}; @age:
	seconds since the daemon started.

	@stopped: number of CPUs that do not sample; @interval: nanoseconds; @times: factor of all
	counters except COUNTERS and @false_sharing, the number of such samples; @counters: values that replace the defaults of COUNTERS.
	"""
	latencies = [v for c in containers.values() for v in c[0]]
	memory = [v for c in containers.values() for v in c[1]]
	others = [sum(c[i] for c in containers.values() if len(c) > i) for i in (2, 3, 4)]
	early = [v for c in containers.values() if len(c) > 5 for v in c[5]]
	machine = struct.pack("<QQQ32s16s8sBB6xIIQ", epoch, epoch, age * 10**9, b"1", b"module", b"bpf", backend, 1,
			      2, stopped, interval)
	records = times * len(latencies)
	values = {"records": records, "written": records, "bytes": 64 * records, "decoded": 64 * records,
		  "enabled": 10**9, **counters}
	assert set(values) <= set(COUNTERS), values
	machine += struct.pack(f"<{len(COUNTERS)}Q", *(values.get(name, 0) for name in COUNTERS))
	machine += tally(latencies, memory, *others, early, times)
	# No mapping was lost, and the kernel answered all reads of /proc.
	machine += struct.pack("<QQQ", 0, 0, false_sharing)
	parts = [struct.pack("<Q128s16s256s", i + 1, name.encode(), b"docker", b"/docker/x") + tally(*c, times=times)
		 for i, (name, c) in enumerate(containers.items())]
	size = len(parts[0]) if parts else 408 + 8 * 236
	head = struct.pack("<8sIIIIIIQ", b"SPEMETR\n", 1, 40, len(machine), size, len(parts), 0,
			   40 + len(machine) + sum(map(len, parts)))
	return head + machine + b"".join(parts)


def snapshot_of_six(late, early=1000, age=0):
	"""Return a snapshot of five large containers and one that grows. With SETTINGS, five of the six have
	series."""
	return snapshot({"late": ([100] * late, []), **{f"c{i}": ([100] * early, []) for i in range(5)}}, age=age)


SETTINGS = ("Exporter.MaxSeries=200", "Exporter.ContainerLatencies=total")


def write_snapshot(path, data):
	with open(path + ".new", "wb") as file:
		file.write(data)
	os.rename(path + ".new", path)


def wait(done, what, seconds=600):
	"""Poll @done until it is true, and return its value. The limit only ends a hang."""
	deadline = time.monotonic() + seconds
	while time.monotonic() < deadline:
		got = done()
		if got:
			return got
		time.sleep(0.05)
	raise AssertionError(f"timed out waiting for {what}")


def free_port():
	with socket.socket() as s:
		s.bind(("127.0.0.1", 0))
		return s.getsockname()[1]


class Program:
	"""Run a program until stop(), with its output in a file."""

	def __init__(self, command, log, env=None, fds=()):
		self.log = log
		# Memory that a sanitizer quarantines would count as memory of the program.
		keep = "quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
		options = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), keep)))
		with open(log, "ab") as file:
			self.process = subprocess.Popen(command, stdout=file, stderr=file, stdin=subprocess.DEVNULL, pass_fds=fds,
							env=dict(os.environ, ASAN_OPTIONS=options, **(env or {})))

	def said(self):
		with open(self.log, encoding="utf-8", errors="replace") as file:
			return file.read()

	def stop(self, sig=signal.SIGTERM):
		if self.process.poll() is None:
			self.process.send_signal(sig)
			try:
				self.process.wait(600)
			except subprocess.TimeoutExpired:
				self.process.kill()
				self.process.wait()
		return self.process.returncode

	def memory(self):
		with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
			return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


TOKEN = "test-token"


class Connection(http.client.HTTPConnection):
	"""Connect to a socket of an exporter, Unix or TCP."""

	def __init__(self, exporter):
		super().__init__("localhost")
		self.exporter = exporter

	def connect(self):
		self.sock = self.exporter.connect()


class Exporter(Program):
	"""Run an exporter on its own Unix socket, or on a TCP port of the loopback interface with a token,
	unless TOKEN is None."""

	numbers = itertools.count()

	def __init__(self, program, folder, *options, settings=(), env=None, fds=(), tcp=False, token=TOKEN, within=()):
		name = f"{folder}/exporter-{next(self.numbers)}"
		self.port = free_port() if tcp else None
		self.path = f"{name}.socket"
		self.headers = {}
		if tcp and token and "CREDENTIALS_DIRECTORY" not in (env or {}):
			os.mkdir(f"{name}.credentials")
			with open(f"{name}.credentials/speprof-exporter.token", "w", encoding="ascii") as file:
				file.write(token)
			env = {**(env or {}), "CREDENTIALS_DIRECTORY": f"{name}.credentials"}
			self.headers = {"Authorization": f"Bearer {token}"}
		listen = f"127.0.0.1:{self.port}" if tcp else self.path
		every = ["Exporter.IntervalSec=1", f"Exporter.Listen={listen}", *settings]
		# Pass descriptors like a service manager: with numbers from 3 on, for the process
		# in LISTEN_PID.
		handed = "".join(f" {3 + i}<&{fd}" for i, fd in enumerate(fds))
		program = ["bash", "-c", f'LISTEN_PID=$$ exec "$@"{handed}', "bash", program] if fds else [program]
		command = [*within, *program, "--config", "/dev/null", *options, *[w for s in every for w in ("--set", s)]]
		super().__init__(command, f"{name}.log", env, fds)
		wait(lambda: self.process.poll() is not None or self.answers(), "the exporter")
		assert self.process.poll() is None, self.said()

	def said(self):
		# Return the log without the warning that the group of the socket cannot be set. The machine may
		# have no group speprof, or the test may not use it.
		return "".join(line for line in super().said().splitlines(True) if "its group cannot be set" not in line)

	def connect(self):
		if self.port:
			return socket.create_connection(("127.0.0.1", self.port), 60)
		connection = socket.socket(socket.AF_UNIX)
		connection.settimeout(60)
		try:
			connection.connect(self.path)
		except OSError:
			connection.close()
			raise
		return connection

	def answers(self):
		try:
			self.connect().close()
			return True
		except OSError:
			return False

	def get(self, path="/metrics", method="GET", headers=None, body=None):
		connection = Connection(self)
		connection.request(method, path, body, {**self.headers, **(headers or {})})
		answer = connection.getresponse()
		data = answer.read()
		connection.close()
		return answer.status, answer.getheader("Content-Type"), data

	def values(self):
		"""Return {name{labels}: value} of the older text format."""
		text = self.get()[2].decode()
		return {m[1]: float(m[2]) for m in re.finditer(r"(?m)^([a-z][^#\n]*) (\S+)$", text)}


class Receiver:
	"""Run an HTTP server that stores requests, and answers with (status, headers, body)."""

	def __init__(self, answers=(), context=None):
		self.bodies = []
		self.requests = []
		self.times = []
		self.answers = list(answers)
		outer = self

		class Handler(http.server.BaseHTTPRequestHandler):
			def do_POST(self):
				outer.times.append(time.monotonic())
				body = self.rfile.read(int(self.headers["Content-Length"]))
				status, headers, answer = outer.answers.pop(0) if outer.answers else (200, {}, b"")
				if status < 300:
					outer.bodies.append(body)
				outer.requests.append((self.path, dict(self.headers)))
				self.send_response(status)
				for name, value in headers.items():
					self.send_header(name, value)
				self.send_header("Content-Length", str(len(answer)))
				self.end_headers()
				try:
					self.wfile.write(answer)
				except OSError:
					pass

			def log_message(self, *args):
				pass

		self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		if context:
			# The handshake runs in the thread of its connection, so that a failing client does not
			# block others.
			self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
								 do_handshake_on_connect=False)
		# Some tests expect that the server refuses clients.
		self.server.handle_error = lambda *_: None
		self.url = f"http{'s' if context else ''}://127.0.0.1:{self.server.server_port}/push"
		threading.Thread(target=self.server.serve_forever, daemon=True).start()

	def close(self):
		self.server.shutdown()
		self.server.server_close()


def varint(data, at):
	value = shift = 0
	while True:
		value |= (data[at] & 0x7f) << shift
		shift += 7
		at += 1
		if data[at - 1] < 0x80:
			return value, at


def snappy(data):
	"""Decompress snappy's block format."""
	size, at = varint(data, 0)
	out = bytearray()
	while at < len(data):
		tag = data[at]
		at += 1
		kind, n = tag & 3, tag >> 2
		if kind == 0:
			if n >= 60:
				extra = n - 59
				n = int.from_bytes(data[at:at + extra], "little")
				at += extra
			out += data[at:at + n + 1]
			at += n + 1
			continue
		if kind == 1:
			length, offset = (n & 7) + 4, (tag >> 5) << 8 | data[at]
			at += 1
		else:
			width = 2 if kind == 2 else 4
			length, offset = n + 1, int.from_bytes(data[at:at + width], "little")
			at += width
		for _ in range(length):
			out.append(out[-offset])
	assert len(out) == size
	return bytes(out)


def decode(schema, message, data):
	"""Return the text form of DATA by protoc. A field that the schema does not have is an error."""
	folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema")
	got = subprocess.run(["protoc", f"-I{folder}", f"--decode={message}", os.path.join(folder, schema)],
			     input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
	assert got.returncode == 0, got.stderr
	text = got.stdout.decode("utf-8", "replace")
	unknown = re.search(r"(?m)^\s*\d+[:{ ].*", text)
	assert not unknown, unknown[0]
	return text
