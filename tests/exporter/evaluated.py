# SPDX-License-Identifier: LGPL-2.1-or-later
"""Evaluate the rules and dashboards of packaging/ with a Prometheus that scrapes ten hosts.

The counters of a host grow in equal steps at any time, so the expected ratios of rates and
percentiles do not depend on the times of scrapes. Each host but two has a fault that an alert
reports.
"""
import json
import math
import os
import subprocess
import time
import urllib.parse
import urllib.request

import dashboards_table
from peer import EMULATED, HARDWARE, LEVEL_DRAM, LEVEL_L1, Exporter, Receiver, snapshot, wait, write_snapshot

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGING = os.path.join(HERE, "../../packaging")
RULES = [os.path.abspath(f"{PACKAGING}/prometheus/{name}.rules.yml") for name in ("recording", "alerting")]
BEYOND_LLC = 16
# One step of the container "web": latencies in the buckets up to 64, 512 and 2048 cycles.
LATENCIES = [60] * 600 + [300] * 380 + [2000] * 20
LEVELS = [LEVEL_L1] * 600 + [LEVEL_DRAM] * 250 + [BEYOND_LLC] * 150
QUANTILES = {"p50": 60, "p90": 300, "p99": 2000}
HOSTS = ("native", "classic", "down", "without", "stopped", "lossy", "blind", "held", "unknown", "crowded")
ALERTS = {
	"SpeprofDaemonDown": {"down"}, "SpeprofNoSpe": {"without"}, "SpeprofCpusStopped": {"stopped"},
	"SpeprofFaults": {"stopped"}, "SpeprofLosses": {"lossy"}, "SpeprofBlind": {"blind"},
	"SpeprofIntervalHeld": {"held"}, "SpeprofHeldBack": {"held"}, "SpeprofUnattributed": {"unknown"},
	"SpeprofEvicted": {"unknown"}, "SpeprofSeriesDropped": {"crowded"}, "SpeprofPushDropped": {"crowded"},
	"SpeprofLatencyAboveItsWeek": {"native"}, "SpeprofDramAboveItsWeek": {"native"}, "SpeprofFalseSharing": {"crowded"},
}
RATIOS = {
	"instance:speprof_accesses_dram:ratio_rate5m": 0.4, "instance:speprof_accesses_remote:ratio_rate5m": 0.1,
	"instance:speprof_accesses_false_sharing:ratio_rate5m": 0.005,
	"instance:speprof_branches_mispredicted:ratio_rate5m": 0.25, "instance:speprof_blind:ratio_rate5m": 0.02,
	"instance:speprof_record_bytes_lost:ratio_rate5m": 0.005, "instance:speprof_samples_unattributed:ratio_rate5m": 0.03,
	"instance:speprof_samples_evicted:ratio_rate5m": 0.05, "instance:speprof_sampling_interval:ratio_min1d": 1,
	"container:speprof_accesses_dram:ratio_rate5m": 0.4, "container:speprof_accesses_remote:ratio_rate5m": 0.1,
	"container:speprof_branches_mispredicted:ratio_rate5m": 0.25,
}


def state(name, step, late):
	"""Return the snapshot of a host after @step steps. @late: the sampling interval of the host
	is longer than before."""
	containers = {"web": (LATENCIES, LEVELS, 100, 200, 50, LATENCIES)}
	if name == "crowded":
		containers = {f"{name}-{i}": containers["web"] for i in range(7)}
	samples = len(LATENCIES) * step
	what = {"records": samples, "enabled": 10**9 * step, "blind_full": 10**7 * step, "blind_handover": 10**7 * step,
		"bytes": 1000 * step, "decoded": 945 * step, "padding": 50 * step, "suspect": 5 * step, "lost": 0,
		"false_sharing": samples // 200,
		"unattributed": 3 * samples // 100, "evicted": samples // 20, "cpu_ns": 10**6 * step, "memory": 2**24}
	what.update({
		"stopped": {"stopped": 1, "faults": step},
		"lossy": {"lost": 20 * step},
		"blind": {"blind_handover": 9 * 10**7 * step},
		"held": {"throttles": step, "interval": 4000000 if late else 1000000},
		"unknown": {"unattributed": samples // 10, "evicted": samples // 5},
		"crowded": {"false_sharing": 7 * len(LEVELS) * step // 50},
	}.get(name, {}))
	return snapshot(containers, EMULATED if name == "without" else HARDWARE, times=step, **what)


def query(port, text):
	"""Return [(labels, value)] of an instant query; the value of a native histogram is its count."""
	url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": text})
	with urllib.request.urlopen(url, timeout=600) as answer:
		result = json.load(answer)["data"]["result"]
	return [(r["metric"], float(r["value"][1] if "value" in r else r["histogram"][1]["count"])) for r in result]


class Fleet:
	def __init__(self, folder, program):
		self.folder, self.step, self.late = folder, 0, False
		self.refusing = Receiver([(400, {}, b"no")] * 100000)
		self.exporters = {}
		self.advance()
		for name in HOSTS:
			settings = [f"Exporter.NativeHistograms={'no' if name == 'classic' else 'yes'}"]
			if name == "crowded":
				settings += ["Exporter.MaxSeries=200", f"RemoteWrite.URL={self.refusing.url}", "RemoteWrite.IntervalSec=1"]
			self.exporters[name] = Exporter(program, folder, "--snapshot", f"{folder}/{name}", settings=settings, tcp=True)
		self.instances = {name: f"127.0.0.1:{e.port}" for name, e in self.exporters.items()}
		self.names = {instance: name for name, instance in self.instances.items()}
		# A time series of a level appears with the first access to the level. Wait until
		# all series exist before the first scrape, because rate() ignores the value with
		# which a series starts.
		wait(lambda: self.advance() or all(e.values().get('speprof_accesses_total{source="dram"}') for n, e in
						   self.exporters.items() if n != "without"), "counters of all hosts")

	def advance(self):
		"""Add a step of work to the counters of each host."""
		self.step += 1
		for name in HOSTS:
			path = f"{self.folder}/{name}"
			if name == "down" and self.late:
				if os.path.exists(path):
					os.unlink(path)
				continue
			write_snapshot(path, state(name, self.step, self.late))

	def stop(self):
		for exporter in self.exporters.values():
			exporter.stop()
		self.refusing.close()


def write_week(fleet, folder):
	"""Store a week of the values that alerts compare: lower than now for one host, and the same for another."""
	path, now = f"{folder}/week.txt", int(time.time()) // 3600 * 3600
	with open(path, "w", encoding="ascii") as file:
		for name, lower, same in (("container:speprof_latency_cycles:p99_rate1h", 100, 2000),
					  ("container:speprof_accesses_dram:ratio_rate1h", 0.1, 0.4)):
			file.write(f"# TYPE {name} gauge\n")
			for host, value in (("native", lower), ("classic", same)):
				for hour in range(7 * 24, 2, -1):
					file.write(f'{name}{{container="web",instance="{fleet.instances[host]}",job="speprof",'
						   f'runtime="docker"}} {value} {now - 3600 * hour}\n')
		file.write("# EOF\n")
	subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", path, f"{folder}/data"], check=True,
		       stdout=subprocess.DEVNULL)


def filled(text, instance):
	"""Return an expression with its variables replaced, like Grafana does."""
	for name, value in (("$__rate_interval", "5m"), ("$container", "web"), ("$instance", instance)):
		text = text.replace(name, value)
	assert "$" not in text, text
	return text


def of_host(port, fleet, text, name):
	"""Return the values of @text for a host. If the values are for containers, return those of
	the container "web"."""
	return [value for labels, value in query(port, text)
		if labels.get("instance") == fleet.instances[name] and labels.get("container", "web") == "web"]


def check_ratios(port, fleet):
	for name in ("native", "classic"):
		for ratio, want in RATIOS.items():
			got = wait(lambda r=ratio, n=name: fleet.advance() or of_host(port, fleet, r, n), f"{ratio} of {name}")
			assert len(got) == 1 and math.isclose(got[0], want, rel_tol=1e-6), (name, ratio, got, want)
	print(f"  {len(RATIOS)} recorded ratios have their values, on a host with native histograms and one without")


def in_bucket(value, truth, native):
	"""Return true if @value is in the bucket of the true quantile. The bounds of a bucket
	differ by the factor 2^(1/4) in native histograms, and 2 in classic ones."""
	power = math.ceil(math.log2(truth) * (4 if native else 1)) / (4 if native else 1)
	return 2 ** (power - (0.25 if native else 1)) <= value <= 2 ** power


def check_boards(port, fleet):
	"""Check that each expression has values, and that quantiles, shares of sources and counts
	equal those of the hosts."""
	count = 0
	for name in ("native", "classic"):
		for board, title, legend, text in dashboards_table.targets():
			instance = fleet.instances[name] if board != "fleet" else ".*"
			got = wait(lambda t=text, i=instance: fleet.advance() or query(port, filled(t, i)), f"{board}: {title}")
			count += 1
			# A host without a daemon has no samples, so its ratios are NaN.
			known = [value for _, value in got if math.isfinite(value)]
			assert len(known) == len(got) if board == "host" else known, (board, title, got)
			if board != "fleet" and legend in QUANTILES:
				assert len(got) == 1 and in_bucket(got[0][1], QUANTILES[legend], name == "native"), (board, legend, got)
			if title == "Loads and stores by source":
				total = sum(value for _, value in got)
				shares = {labels["source"]: round(value / total, 6) for labels, value in got}
				assert shares == {"l1": 0.6, "dram": 0.25, "beyond_llc": 0.15}, shares
			want = {"Hosts": 10, "Hosts without SPE": 1, "Daemons down": 1, "CPUs stopped": 1, "CPUs sampled": 16}.get(title)
			if want is not None:
				wait(lambda t=text, w=want: [v for _, v in query(port, filled(t, ".*"))] == [w], f"{title}: {want}")
	print(f"  {count} evaluations of dashboards have values")


def check_alerts(port, fleet):
	"""Check that the expression of each alert is true for the expected hosts, and for no
	other."""
	with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/rules", timeout=600) as answer:
		rules = [rule for group in json.load(answer)["data"]["groups"] for rule in group["rules"]]
	assert not [rule for rule in rules if rule["health"] == "err"], rules
	texts = {rule["name"]: rule["query"] for rule in rules if rule["type"] == "alerting"}
	assert set(texts) == set(ALERTS), set(texts) ^ set(ALERTS)
	for name, want in ALERTS.items():
		def hosts(text=texts[name]):
			fleet.advance()
			return {fleet.names[labels["instance"]] for labels, _ in query(port, text)}

		wait(lambda h=hosts, w=want: h() == w, f"{name} of {want}")
	print(f"  {len(ALERTS)} alerts are true for their hosts alone")


def check(folder, program, start):
	"""Run all checks. @start(folder, port of each target, rules) starts a Prometheus, and
	returns the process and its port."""
	for command in (["check", "rules", *RULES], ["test", "rules", f"{HERE}/rules-test.yml", f"{HERE}/rules-week-test.yml"],
			["check", "config", "--syntax-only", f"{PACKAGING}/prometheus/scrape.yml"]):
		done = subprocess.run(["promtool", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
		assert done.returncode == 0, done.stdout
	fleet = Fleet(folder, program)
	store = None
	try:
		write_week(fleet, folder)
		store, port = start(folder, list(fleet.instances.values()), RULES)
		wait(lambda: fleet.advance() or len(query(port, "speprof_sampling_interval_seconds == 0.001")) == 9, "the first scrapes")
		fleet.late = True
		check_alerts(port, fleet)
		check_ratios(port, fleet)
		check_boards(port, fleet)
	finally:
		fleet.stop()
		if store:
			store.stop()
