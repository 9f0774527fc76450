// SPDX-License-Identifier: LGPL-2.1-or-later
// Draw the counters of the daemon's history over time: rate, mean latency, p99 and share of DRAM.
import { byId } from "./dom.js";
import { formatCount, formatCycles, formatPercent, formatShort } from "./format.js";
import { TimePlot } from "./time-plot.js";

const HEIGHT = 44;
const GAP = 10;

/* Positions of values in a point of the method GetTimeline. */
const [START, , SAMPLED, SAMPLES, OPERATIONS, LATENCY, MEMORY, DRAM] = [1, 2, 3, 4, 5, 6, 7, 8];
const P99 = 13;

const ratio = (part, whole) => (whole ? part / whole : null);
const MEASURES = [
	{ name: "operations", short: "op/s", per: "/s", unit: "", kind: "rate", value: p => ratio(1e6 * p[OPERATIONS], p[SAMPLED]), text: formatShort },
	{ name: "mean", per: "", unit: "cycles", kind: "mean", modelled: true, value: p => ratio(p[LATENCY], p[SAMPLES]), text: formatCycles },
	{ name: "p99", per: "", unit: "cycles", kind: "blind", modelled: true, value: p => p[P99], text: formatCount },
	{ name: "DRAM", per: "", unit: "", kind: "dram", modelled: true, value: p => ratio(p[DRAM], p[MEMORY]), text: share => formatPercent(share, 1) },
];

/**
 * Return a reply of GetTimeline as slices of equal length: { start, points }, of which a slice without samples is
 * null. There are @count slices of @step microseconds; the last one has the last point.
 */
export function trendSlices(points, step, count) {
	const slices = new Array(count).fill(null);
	const number = point => Math.floor(point[START] / step);
	const first = number(points.at(-1)) - count + 1;
	for (const point of points)
		if (number(point) >= first)
			slices[number(point) - first] = point;
	return { start: first * step, points: slices };
}

function clock(usec) {
	return new Date(usec / 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

/** Draws the section "When" of the live page. */
export class Trend extends TimePlot {
	help = "Each bar is a step of time. A grey step has no samples: the daemon did not run, or nothing was sampled.";

	/* The time does not depend on the selection in the icicle. */
	draw() {}

	/** Show a reply of GetTimeline in @count steps of @step microseconds. @of: what is counted, for the reader. */
	load([, backend, , , points], step, count, of) {
		if (!points.length) {
			this.clear(`The history has no samples of ${of} in this time.`);
			return;
		}
		this.trend = { ...trendSlices(points, step, count), step, modelled: backend === "emulated" };
		this.count = count;
		byId("when-note").textContent = `From the daemon’s history: ${of}, in steps of ${step / 6e7} min. It has no losses and no blind time.`;
		this.paint();
		this.drawTable(["from", ...MEASURES.map(measure => `${this.mark(measure)}${measure.name}${measure.per} ${measure.unit}`.trim())]);
	}

	mark(measure) {
		return measure.modelled && this.trend.modelled ? "~" : "";
	}

	paint() {
		this.measure();
		let y = 4;
		const parts = [];
		for (const measure of MEASURES) {
			parts.push(this.strip(y, measure));
			y += HEIGHT + GAP;
		}
		parts.push(this.axis(y));
		this.show(y, `Operations, mean latency, p99 and share of DRAM in ${this.count} steps of time; the table below has the numbers`, parts);
	}

	strip(top, measure) {
		const { points } = this.trend;
		const values = points.map(point => (point ? measure.value(point) ?? 0 : 0));
		const most = Math.max(...values);
		const missing = points.map(point => (point ? 0 : 1));
		const names = this.left > 60 ? [this.mark(measure) + measure.name, `to ${measure.text(most)}${measure.per}`, measure.unit] : [measure.short ?? measure.name, measure.text(most)];
		return [...names.map((text, i) => this.label(top + 10 + 14 * i, text)), this.ground(top, HEIGHT),
			...this.bars(top, HEIGHT, missing, "missing"), ...this.bars(top, HEIGHT, values.map(value => value / (most || 1)), measure.kind, 0.6, 0)];
	}

	axis(top) {
		const { start, step } = this.trend;
		const every = Math.ceil(this.count / Math.min(8, Math.max(2, Math.floor(this.plot / 90))));
		return Array.from({ length: Math.ceil(this.count / every) }, (_, i) => this.tick(top, i * every / this.count, clock(start + i * every * step)));
	}

	describe([time, rate, mean, p99, dram]) {
		return rate === "-" ? `${time}: no samples` : `${time}: ${rate} operations/s, mean ${mean}, p99 ${p99} cycles, DRAM ${dram}`;
	}

	row(i) {
		const { start, step, points } = this.trend;
		return [clock(start + i * step), ...MEASURES.map(measure => {
			const value = points[i] ? measure.value(points[i]) : null;
			return value === null ? "-" : measure.text(value);
		})];
	}
}
