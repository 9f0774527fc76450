# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check the requests that receivers get when series end, and the handling of their replies."""
import os
import random
import re
import shutil
import ssl
import struct
import subprocess

from hostile import authority, certificate
from peer import (Connection, Exporter, Receiver, SETTINGS, decode, snappy, snapshot, snapshot_of_six, wait,
		  write_snapshot)

STALE = struct.pack("<Q", 0x7ff0000000000002)


def series_of(body):
	"""Return {labels: whether the series ends} of a request. Also check the bits of NaN, which protoc does
	not print."""
	data = snappy(body)
	text = decode("remote.proto", "prometheus.WriteRequest", data)
	found = {}
	for block in re.split(r"(?m)^timeseries {", text)[1:]:
		labels = tuple(re.findall(r'name: "(.*?)"\s+value: "(.*?)"', block))
		assert labels not in found, labels
		found[labels] = re.search(r"(?m)^ +(value|sum): -?nan$", block) is not None
	# The value is field 1 of a sample and field 3 of a histogram.
	assert data.count(b"\x09" + STALE) + data.count(b"\x19" + STALE) == sum(found.values())
	return found


def of_container(found, name):
	return {labels: ends for labels, ends in found.items() if ("container", name) in labels}


def of_name(found, name):
	return [labels for labels in found if ("__name__", name) in labels]


def check_markers(program, folder):
	"""Check that each series ends once if its container exits, if the daemon stops, and if the
	exporter exits."""
	if not shutil.which("protoc"):
		return
	for native in ("no", "yes"):
		path = f"{folder}/snapshot"
		write_snapshot(path, snapshot_of_six(50))
		receiver = Receiver()
		exporter = Exporter(program, folder, "--snapshot", path,
				    settings=(*SETTINGS, f"RemoteWrite.URL={receiver.url}", "RemoteWrite.IntervalSec=1",
					      f"RemoteWrite.NativeHistograms={native}"))
		try:
			wait(lambda r=receiver: r.bodies and series_of(r.bodies[-1]), "a request")
			wait(lambda r=receiver: of_container(series_of(r.bodies[-1]), "c0"), "a container that is heavy")
			write_snapshot(path, snapshot_of_six(9000))
			wait(lambda r=receiver: of_container(series_of(r.bodies[-1]), "late"), "the container that became heavy")
			with open(path, "wb") as file:
				file.write(b"nothing")
			wait(lambda r=receiver: not of_name(series_of(r.bodies[-1]), "speprof_records_total"), "a request without the daemon")
			seen = len(receiver.bodies)
			wait(lambda r=receiver, n=seen: len(r.bodies) > n, "a request after it")
		finally:
			code = exporter.stop()
		assert code == 0, exporter.said()
		requests = [series_of(body) for body in receiver.bodies]
		ended = set()
		for before, now in zip(requests, requests[1:]):
			there = {labels for labels, ends in before.items() if not ends}
			assert {labels for labels, ends in now.items() if ends} == there - {n for n, e in now.items() if not e}
			ended |= {dict(labels)["__name__"] for labels, ends in now.items() if ends and now is not requests[-1]}
		assert all(requests[-1].values()) and len(requests[-1]) > 5, requests[-1]
		histogram = "speprof_container_latency_cycles" + ("" if native == "yes" else "_bucket")
		assert {"speprof_cpus", "speprof_records_total", "speprof_container_samples_total", histogram} <= ended, ended
		receiver.close()


def check_otlp_says(program, folder):
	"""Check that the configuration file takes precedence over the environment, and that rejected points are
	counted, and logged once."""
	path = f"{folder}/snapshot"
	write_snapshot(path, snapshot_of_six(50))
	# partial_success { rejected_data_points: 7 error_message: "too old" }
	partial = b"\x0a\x0b\x08\x07\x12\x07too old"
	receiver = Receiver([(200, {}, partial), (200, {}, partial), (200, {}, b"\xff" * 100)])
	exporter = Exporter(program, folder, "--snapshot", path, settings=(f"OTLP.URL={receiver.url}", "OTLP.IntervalSec=1"),
			    env={"OTEL_METRIC_EXPORT_INTERVAL": "3600000", "OTEL_RESOURCE_ATTRIBUTES": "host.name=a%2Cb"})
	try:
		wait(lambda: len(receiver.bodies) >= 4, "requests by the file's interval")
		label = '{destination="otlp"}'
		wait(lambda: exporter.values()[f"speprof_exporter_push_sent_total{label}"] >= 4, "requests that were taken")
		assert exporter.values()[f"speprof_exporter_push_rejected_points_total{label}"] == 14
		assert exporter.said().count("rejects 7 data points: too old") == 1, exporter.said()
	finally:
		exporter.stop()
	if shutil.which("protoc"):
		text = decode("otlp.proto", "opentelemetry.ExportMetricsServiceRequest", receiver.bodies[-1])
		assert text.count('"host.name"') == 1 and '"a,b"' in text, text[:2000]
	receiver.close()


def context_of(folder):
	"""Return the TLS context of a receiver that requires a client certificate of the same authority, and
	the credentials of a client."""
	os.mkdir(folder)
	authority(folder)
	context = certificate(folder, "receiver", "IP:127.0.0.1", 2)
	context.load_verify_locations(f"{folder}/ca.pem")
	context.verify_mode = ssl.CERT_REQUIRED
	certificate(folder, "client", "DNS:client", 2)
	for kind, name in (("pem", "certificate"), ("key", "key")):
		shutil.copy(f"{folder}/client.{kind}", f"{folder}/speprof-exporter.remote-write-{name}")
	with open(f"{folder}/speprof-exporter.remote-write-headers", "w", encoding="ascii") as file:
		file.write("X-Scope-OrgID: team\nAuthorization: Basic eDp5\n")
	return context


def check_credentials(program, folder):
	"""Check a tenant's header and a client certificate, and that no other machine gets a secret header
	without TLS."""
	if not shutil.which("openssl"):
		return
	path, secrets = f"{folder}/snapshot", f"{folder}/secrets"
	write_snapshot(path, snapshot_of_six(50))
	receiver = Receiver(context=context_of(secrets))
	env = {"CREDENTIALS_DIRECTORY": secrets}
	settings = (f"RemoteWrite.URL={receiver.url}", "RemoteWrite.IntervalSec=1", f"Push.CACertificates={secrets}/ca.pem")
	exporter = Exporter(program, folder, "--snapshot", path, settings=settings, env=env)
	try:
		wait(lambda: receiver.requests, "a request")
		headers = receiver.requests[0][1]
		assert headers["X-Scope-OrgID"] == "team" and headers["Authorization"] == "Basic eDp5", headers
	finally:
		exporter.stop()
	without = Exporter(program, folder, "--snapshot", path, settings=settings)
	try:
		seen = len(receiver.requests)
		wait(lambda: "the request is retried" in without.said(), "a line on a receiver that wants a certificate")
		assert len(receiver.requests) == seen
	finally:
		without.stop()
		receiver.close()
	far = "RemoteWrite.URL=http://192.0.2.1/"
	queues = ("Push.QueueKiB=40000", "OTLP.URL=https://192.0.2.1/")
	for more, name, text, says in (((), "headers", "Host: x\n", "remote-write-headers: should be"),
				       ((), "headers", "nothing\n", "remote-write-headers: should be"),
				       ((), "token", "t" * 8193, "a token should be at most 8 KiB"),
				       ((far,), "headers", "A: b\n", "by https only"), ((far,), "token", "t", "by https only"),
				       ((far.replace("//", "//user:password@"),), "none", "-", "by https only"),
				       ((far.replace("//", "//user@"),), "none", "-", "by https only"),
				       (("OTLP.URL=http://user@192.0.2.1/",), "none", "-", "OTLP: a token, a URL's password"),
				       (queues, "headers", "A: b\n", "QueueKiB=40000: should be at most 32768 for 2 receivers")):
		got = refused(program, secrets, (*settings, *more), name, text)
		assert got.returncode == 78 and says in got.stderr and got.stderr.count("\n") == 1, got
	# Errors in the settings of OTLP disable only OTLP.
	os.rename(f"{secrets}/speprof-exporter.remote-write-headers", f"{secrets}/speprof-exporter.otlp-headers")
	for text, says in (("A: b\n", "OTLP: a token"), ("Host: x\n", "otlp-headers: should be")):
		with open(f"{secrets}/speprof-exporter.otlp-headers", "w", encoding="ascii") as file:
			file.write(text)
		exporter = Exporter(program, folder, "--snapshot", path, settings=("OTLP.URL=http://192.0.2.1/",), env=env)
		try:
			wait(lambda e=exporter: e.values().get("speprof_daemon_up") == 1, "metrics without OTLP")
			assert says in exporter.said() and exporter.said().count("\n") == 1, exporter.said()
		finally:
			exporter.stop()


def refused(program, secrets, settings, name, text):
	"""Return the output of an exporter with only this credential for the receiver."""
	for shown in ("headers", "token", "none"):
		if os.path.exists(f"{secrets}/speprof-exporter.remote-write-{shown}"):
			os.unlink(f"{secrets}/speprof-exporter.remote-write-{shown}")
	with open(f"{secrets}/speprof-exporter.remote-write-{name}", "w", encoding="ascii") as file:
		file.write(text)
	options = [w for s in ("Exporter.Listen=", *settings) for w in ("--set", s)]
	return subprocess.run([program, "--config", "/dev/null", *options], env=dict(os.environ, CREDENTIALS_DIRECTORY=secrets),
			      text=True, stderr=subprocess.PIPE, timeout=600, check=False)


def check_proxy(program, folder):
	"""Check that only requests to other machines use a proxy, because a proxy would see a token without
	TLS."""
	path, secrets = f"{folder}/snapshot", f"{folder}/secrets"
	write_snapshot(path, snapshot_of_six(50))
	os.mkdir(secrets)
	with open(f"{secrets}/speprof-exporter.remote-write-token", "w", encoding="ascii") as file:
		file.write("secret\n")
	receiver, proxy = Receiver(), Receiver()
	url = receiver.url.replace("127.0.0.1", "localhost")
	exporter = Exporter(program, folder, "--snapshot", path,
			    settings=(f"RemoteWrite.URL={url}", "RemoteWrite.IntervalSec=1", "OTLP.URL=http://192.0.2.1/", "OTLP.IntervalSec=1"),
			    env={"CREDENTIALS_DIRECTORY": secrets, "http_proxy": proxy.url, "no_proxy": "", "NO_PROXY": ""})
	try:
		wait(lambda: receiver.requests and proxy.requests, "requests to both")
		assert receiver.requests[0][1]["Authorization"] == "Bearer secret", receiver.requests[0]
		assert all(where.startswith("http://192.0.2.1/") for where, _ in proxy.requests), proxy.requests
	finally:
		exporter.stop()
		receiver.close()
		proxy.close()


def check_authorities(program, folder):
	"""Check that CACertificates= replaces the system's authorities, and does not add to them."""
	system, ours = f"{folder}/system", f"{folder}/ours"
	within = ["unshare", "-m", "bash", "-c", 'mount --bind "$1" /etc/ssl/certs && shift && exec "$@"', "bash", system]
	os.mkdir(system)
	os.mkdir(ours)
	if not shutil.which("openssl") or subprocess.run([*within, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
		return
	authority(system)
	receiver = Receiver(context=certificate(system, "receiver", "IP:127.0.0.1", 2))
	settings = (f"RemoteWrite.URL={receiver.url}", "RemoteWrite.IntervalSec=1")
	write_snapshot(f"{folder}/snapshot", snapshot_of_six(50))
	exporter = Exporter(program, folder, "--snapshot", f"{folder}/snapshot", within=within,
			    settings=(*settings, f"Push.CACertificates={authority(ours)}"))
	try:
		wait(lambda: exporter.said(), "a line on the receiver")
		assert "signed by an authority that is not trusted here" in exporter.said() and not receiver.requests, (exporter.said(), receiver.requests)
	finally:
		exporter.stop()
	exporter = Exporter(program, folder, "--snapshot", f"{folder}/snapshot", within=within, settings=settings)
	try:
		wait(lambda: receiver.requests, "a request by the system's authorities")
	finally:
		exporter.stop()
		receiver.close()


def check_told(program, folder):
	"""Check that a failure of another kind than the last logged one is logged when the interval
	between log lines has passed."""
	path = f"{folder}/snapshot"
	write_snapshot(path, snapshot_of_six(50))
	receiver = Receiver([(503, {}, b"")] * 2 + [(401, {}, b"")] * 10000)
	exporter = Exporter(program, folder, "--snapshot", path,
			    settings=(f"RemoteWrite.URL={receiver.url}", "RemoteWrite.IntervalSec=1"))
	try:
		wait(lambda: "refuses requests: status 401" in exporter.said(), "a line on the present failure")
		assert exporter.said().count("status 503") == 1, exporter.said()
	finally:
		exporter.stop()
		receiver.close()


def check_feed_told(program, folder):
	"""Check that the exporter logs a daemon that fails at every other query, and then a failure
	of another kind."""
	path = f"{folder}/snapshot"
	write_snapshot(path, snapshot_of_six(50))
	exporter = Exporter(program, folder, "--snapshot", path)
	try:
		for answer in [b"nothing", snapshot_of_six(50)] * 2:
			up = float(answer != b"nothing")
			write_snapshot(path, answer)
			wait(lambda u=up: exporter.values()["speprof_daemon_up"] == u, "what it answers to be seen")
		assert "the daemon" in exporter.said(), exporter.said()
		os.unlink(path)
		wait(lambda: f"the query of the daemon failed and is retried: {path}: No such file" in exporter.said(), "a line on another cause")
		assert " times since the last line)" in exporter.said(), exporter.said()
	finally:
		exporter.stop()


def check_too_large(program, folder):
	"""Check that a request larger than any queue is logged with advice, and drops no other request."""
	path = f"{folder}/snapshot"
	# These names do not compress.
	randbytes = random.Random(1).randbytes
	names = {randbytes(55).hex(): ([i + 1] * 100, []) for i in range(400)}
	write_snapshot(path, snapshot(names))
	receiver = Receiver()
	exporter = Exporter(program, folder, "--snapshot", path,
			    settings=(f"OTLP.URL={receiver.url}", "OTLP.IntervalSec=1", "Push.QueueKiB=64", "Exporter.MaxSeries=50000"))
	try:
		label = '{destination="otlp"}'
		wait(lambda: exporter.values()[f"speprof_exporter_push_dropped_total{label}"] >= 3, "requests that are dropped")
		assert exporter.said().count("does not fit in a queue of 64 KiB") == 1, exporter.said()
		assert re.search(r"OTLP: a request of \d{2,4} KiB .*: QueueKiB= should be larger", exporter.said()), exporter.said()
	finally:
		exporter.stop()
		receiver.close()


def check_too_many(program, folder):
	"""Check that receivers and scrapers get advice if labels are so long that no request fits all
	series."""
	path = f"{folder}/snapshot"
	write_snapshot(path, snapshot({f"c{i}": ([i + 1] * 100, [1, 2, 3, 10]) for i in range(800)}))
	receiver = Receiver()
	labels = [f'Labels.l{i}="{"x" * 383}"' for i in range(6)]
	exporter = Exporter(program, folder, "--snapshot", path,
			    settings=(f"RemoteWrite.URL={receiver.url}", "RemoteWrite.IntervalSec=1", f"OTLP.URL={receiver.url}",
				      "OTLP.IntervalSec=1", "Exporter.MaxSeries=50000", *labels))
	try:
		wait(lambda: exporter.said().count("would be larger than 16 MiB") == 2, "a line on each receiver")
		assert exporter.said().count("MaxSeries= should be smaller") == 2, exporter.said()
		proto = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
		status, _, data = exporter.get(headers={"Accept": proto})
		assert status == 507 and b"MaxSeries= should be smaller" in data, (status, data)
		# Do not read the 40 MB, which takes long.
		connection = Connection(exporter)
		connection.request("GET", "/metrics")
		assert connection.getresponse().status == 200
		connection.close()
	finally:
		exporter.stop()
		receiver.close()


def check_memory(program, unit, folder):
	"""Check that 128 MiB of MemoryMax= remain for queues, with all containers of a snapshot and
	the maximum of series."""
	path = f"{folder}/snapshot"
	write_snapshot(path, snapshot({f"c{i:063}": ([100] * 5 + [1000], [1, 2, 3, 10]) for i in range(8192)}))
	with open(unit, encoding="ascii") as file:
		most = int(re.search(r"(?m)^MemoryMax=(\d+)M$", file.read())[1]) << 20
	exporter = Exporter(program, folder, "--snapshot", path, settings=("Exporter.MaxSeries=50000",))
	try:
		wait(lambda: "speprof_container_samples_total" in str(exporter.values()), "containers")
		exporter.get(headers={"Accept": "application/openmetrics-text;version=1.0.0"})
		assert exporter.memory() < most - (128 << 20), (most, exporter.memory())
	finally:
		exporter.stop()


def check_no_names(program, hang, folder):
	"""Check that name servers that do not answer do not delay the exit: all receivers have their last
	attempt at the same time."""
	path = f"{folder}/snapshot"
	write_snapshot(path, snapshot_of_six(50))
	for seconds in (2, 300):
		asked = f"{folder}/asked-{seconds}"
		exporter = Exporter(program, folder, "--snapshot", path, env={"LD_PRELOAD": hang, "SPEPROF_HANG": asked},
				    settings=("RemoteWrite.URL=http://a.example/", "RemoteWrite.IntervalSec=1", "OTLP.URL=http://b.example/",
					      "OTLP.IntervalSec=1", f"Push.TimeoutSec={seconds}"))
		try:
			if seconds == 2:
				wait(lambda e=exporter: e.said().count("timed out") >= 2, "a line on each receiver")
			else:
				wait(lambda a=asked: os.path.exists(a) and os.path.getsize(a) >= 2, "a try of each receiver")
		finally:
			code = exporter.stop()
		# The exporter waits neither for name servers nor for TimeoutSec=; otherwise it would be killed.
		assert code == 0, (code, exporter.said())
