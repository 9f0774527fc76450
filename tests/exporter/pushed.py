# SPDX-License-Identifier: LGPL-2.1-or-later
"""What receivers are told: that series end; and what they say."""
import re
import shutil
import struct

from keep import SETTINGS, machine
from peer import Exporter, Receiver, decode, snappy, wait, write_snapshot

STALE = struct.pack("<Q", 0x7ff0000000000002)


def series_of(body):
	"""{labels: whether it ends here} of a request; the NaN's bits, of which protoc shows nothing, are the right ones."""
	data = snappy(body)
	text = decode("remote.proto", "prometheus.WriteRequest", data)
	found = {}
	for block in re.split(r"(?m)^timeseries {", text)[1:]:
		labels = tuple(re.findall(r'name: "(.*?)"\s+value: "(.*?)"', block))
		assert labels not in found, labels
		found[labels] = re.search(r"(?m)^ +(value|sum): -?nan$", block) is not None
	# Fields 1 of a sample and 3 of a histogram.
	assert data.count(b"\x09" + STALE) + data.count(b"\x19" + STALE) == sum(found.values())
	return found


def of_container(found, name):
	return {labels: ends for labels, ends in found.items() if ("container", name) in labels}


def of_name(found, name):
	return [labels for labels in found if ("__name__", name) in labels]


def check_markers(program, folder):
	"""A container that goes down, a daemon that is gone, an exporter that ends: each series has its end, once."""
	if not shutil.which("protoc"):
		return
	for native in ("no", "yes"):
		path = f"{folder}/snapshot"
		write_snapshot(path, machine(50))
		receiver = Receiver()
		exporter = Exporter(program, folder, "--snapshot", path,
				    settings=(*SETTINGS, f"RemoteWrite.URL={receiver.url}", "RemoteWrite.IntervalSec=1",
					      f"RemoteWrite.NativeHistograms={native}"))
		try:
			wait(lambda r=receiver: r.bodies and series_of(r.bodies[-1]), "a request")
			wait(lambda r=receiver: of_container(series_of(r.bodies[-1]), "c0"), "a container that is heavy")
			write_snapshot(path, machine(9000))
			wait(lambda r=receiver: of_container(series_of(r.bodies[-1]), "late"), "the container that became heavy")
			with open(path, "wb") as file:
				file.write(b"nothing")
			wait(lambda r=receiver: not of_name(series_of(r.bodies[-1]), "speprof_cpus"), "a request without the daemon")
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
		assert all(requests[-1].values()) and len(requests[-1]) > 50, requests[-1]
		histogram = "speprof_container_latency_cycles" + ("" if native == "yes" else "_bucket")
		assert {"speprof_cpus", "speprof_container_samples_total", histogram} <= ended, ended
		receiver.close()


def check_otlp_says(program, folder):
	"""The file goes before the environment; what a collector did not take is counted, and said once."""
	path = f"{folder}/snapshot"
	write_snapshot(path, machine(50))
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
		assert exporter.said().count("does not take 7 data points: too old") == 1, exporter.said()
	finally:
		exporter.stop()
	if shutil.which("protoc"):
		text = decode("otlp.proto", "opentelemetry.ExportMetricsServiceRequest", receiver.bodies[-1])
		assert text.count('"host.name"') == 1 and '"a,b"' in text, text[:2000]
	receiver.close()
