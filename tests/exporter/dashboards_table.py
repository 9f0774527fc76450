# SPDX-License-Identifier: LGPL-2.1-or-later
"""Read the dashboards of packaging/grafana."""
import json
from pathlib import Path

GRAFANA = sorted((Path(__file__).resolve().parent.parent.parent / "packaging/grafana").glob("*.json"))


def boards():
	"""Yield the name and the contents of each dashboard."""
	for path in GRAFANA:
		yield path.stem, json.loads(path.read_text(encoding="utf-8"))


def targets():
	"""Yield (dashboard, title of the panel, legend, expression) of all panels."""
	for name, board in boards():
		for panel in board["panels"]:
			for target in panel.get("targets", ()):
				yield name, panel["title"], target["legendFormat"], target["expr"]
