# SPDX-License-Identifier: LGPL-2.1-or-later
"""An exporter that is killed, and what the service manager kept for the next one."""
import array
import os
import socket
import threading

from peer import Exporter, snapshot, wait, write_snapshot

NAME = "speprof-exporter-state"
SETTINGS = ("Exporter.MaxSeries=200", "Exporter.ContainerLatencies=total")


class Manager:
	"""The part of systemd that keeps descriptors: what is stored under a name, until it is removed."""

	def __init__(self, folder):
		self.path = f"{folder}/notify"
		self.store = {}
		self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		self.socket.bind(self.path)
		threading.Thread(target=self.serve, daemon=True).start()

	def serve(self):
		while True:
			try:
				text, aux, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(4))
			except OSError:
				return
			lines = text.decode().splitlines()
			name = next((line[7:] for line in lines if line.startswith("FDNAME=")), None)
			fds = array.array("i")
			for level, kind, data in aux:
				if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
					fds.frombytes(data)
			if "FDSTOREREMOVE=1" in lines and name in self.store:
				os.close(self.store.pop(name))
			for fd in fds:
				self.store[name] = fd

	def env(self):
		names = list(self.store)
		more = {"LISTEN_FDS": str(len(names)), "LISTEN_FDNAMES": ":".join(names)} if names else {}
		return {"NOTIFY_SOCKET": self.path, **more}


def machine(late, early=1000):
	"""Five that are heavy, and one that becomes so."""
	return snapshot({"late": ([100] * late, []), **{f"c{i}": ([100] * early, []) for i in range(5)}})


def samples(exporter):
	values = exporter.values()
	name = 'speprof_container_samples_total{container="%s"%s}'
	return values.get(name % ("late", ',runtime="docker"')), values.get(name % ("other", ""))


def check_restart(program, jump, folder):
	"""Killed in between: no series grows by what it did not, and none goes back. Without a store it would."""
	path = f"{folder}/snapshot"
	manager = Manager(folder)
	write_snapshot(path, machine(50))
	exporter = Exporter(program, folder, "--snapshot", path, settings=SETTINGS, env=manager.env())
	try:
		wait(lambda: samples(exporter)[1], "a first snapshot")
		assert samples(exporter)[0] is None
		write_snapshot(path, machine(9000))
		wait(lambda: samples(exporter)[0], "the container that became heavy")
		late, other = samples(exporter)
		assert late == 8950, (late, other)
		exporter.stop(9)
		assert list(manager.store) == [NAME], manager.store
		# Before the daemon answers, the last figures are told: no series ends meanwhile.
		os.unlink(path)
		exporter = Exporter(program, folder, "--snapshot", path, settings=(*SETTINGS, "Exporter.IntervalSec=3600"),
				    env=manager.env(), fds=tuple(manager.store.values()))
		assert samples(exporter) == (late, other), samples(exporter)
		exporter.stop(9)
		# Unless the daemon has been away for two intervals: counters of then are not of now.
		write_snapshot(f"{folder}/jump", b"7200")
		exporter = Exporter(program, folder, "--snapshot", path, settings=(*SETTINGS, "Exporter.IntervalSec=3600"),
				    env={**manager.env(), "LD_PRELOAD": jump, "SPEPROF_JUMP": f"{folder}/jump"},
				    fds=tuple(manager.store.values()))
		assert samples(exporter) == (None, None), samples(exporter)
		exporter.stop(9)
		write_snapshot(path, machine(9007, 1001))
		exporter = Exporter(program, folder, "--snapshot", path, settings=SETTINGS, env=manager.env(),
				    fds=tuple(manager.store.values()))
		wait(lambda: samples(exporter)[0], "the next process")
		after = samples(exporter)
		assert after[0] == late + 7 and other <= after[1] <= other + 5, (late, other, after)
		assert exporter.said().count("counters go on") == 1, exporter.said()
		assert exporter.stop() == 0, exporter.said()
		# Bytes that are not what was written: a line, and it begins anew.
		os.pwrite(manager.store[NAME], b"\xff" * 4000, 64)
		os.pwrite(manager.store[NAME], b"\xff" * 4000, 64 + (64 << 20))
		exporter = Exporter(program, folder, "--snapshot", path, settings=SETTINGS, env=manager.env(),
				    fds=tuple(manager.store.values()))
		wait(lambda: samples(exporter)[0] == 9007, "counters that begin anew")
		assert exporter.said().count("cannot be used: it is damaged; series begin anew") == 1, exporter.said()
	finally:
		exporter.stop()
		manager.socket.close()
