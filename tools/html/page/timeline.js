// SPDX-License-Identifier: LGPL-2.1-or-later
// Draw the counters of the recording over time: rate, latencies, blind time and losses.
import { byId, html, svg } from "./dom.js";
import { formatBytes, formatCount, formatCycles, formatPercent, formatShort } from "./format.js";
import { mean, quantile } from "./histogram.js";
import { heatCells, heatStep, nodeSlices, timeTicks } from "./time.js";

const RATE = 52;
const HEAT_ROW = 7;
const STRIP = 14;
const GAP = 10;
const AXIS = 22;

function secondsText(seconds) {
	return `${Number(seconds.toPrecision(4))} s`;
}

/* Return whether any number of a ledger is above 0. */
function any(numbers) {
	return numbers.some(n => n > 0);
}

/** Draws the section "When" for a selection. */
export class Timeline {
	constructor() {
		this.element = byId("timeline");
		new ResizeObserver(() => this.state?.data.time && this.paint()).observe(this.element);
		this.element.addEventListener("pointermove", event => this.point(event));
		this.element.addEventListener("pointerleave", () => this.hint(null));
	}

	draw(state) {
		const { data, node } = state;
		this.state = state;
		byId("when-table").hidden = !data.time;
		if (!data.time) {
			byId("when-note").textContent = data.counted
				? "This profile has counters without times. “speprof timeline” shows the counters of each minute, and a recording has all times."
				: "The recording has no times, or was read from standard input.";
			return;
		}
		const of = node.depth > 2 ? `the program ${this.programOf(node).name}, as functions are not counted by time` : "the selection";
		byId("when-note").textContent = `Samples of ${of}${state.modelled ? "; their latencies are modelled" : ""}. ` +
			"Blind time and losses are those of all CPUs.";
		this.slices = nodeSlices(data.time, node);
		this.paint();
		this.drawTable();
	}

	programOf(node) {
		return node.depth > 2 ? this.programOf(node.parent) : node;
	}

	/* The horizontal position of a slice's start. */
	x(slice) {
		return this.left + slice / this.slices.length * this.plot;
	}

	paint() {
		const { time } = this.state.data;
		this.width = Math.max(this.element.clientWidth, 200);
		this.left = this.width < 600 ? 44 : 76;
		this.plot = this.width - this.left;
		let y = 4;
		const parts = [this.rate(y)];
		y += RATE + GAP;
		const heat = this.heat(y);
		parts.push(heat.parts);
		y += heat.height + GAP;
		if (any(time.blind) && any(time.armed)) {
			parts.push(this.strip(y, "blind", time.blind.map((ns, i) => ns / Math.max(ns + time.armed[i], 1)), "blind"));
			y += STRIP + GAP;
		}
		if (any(time.lost)) {
			const most = Math.max(...time.lost);
			parts.push(this.strip(y, "lost", time.lost.map(bytes => bytes / most), "lost"));
			y += STRIP + GAP;
		}
		parts.push(this.axis(y));
		this.cursor = svg("rect", { class: "cursor", y: 0, height: y, width: this.plot / this.slices.length, visibility: "hidden" });
		this.element.replaceChildren(svg("svg", {
			role: "img", width: this.width, height: y + AXIS, viewBox: `0 0 ${this.width} ${y + AXIS}`,
			"aria-label": `Samples, latencies, blind time and losses in ${this.slices.length} slices of time; the table below has the numbers`,
		}, ...parts.flat(), this.cursor));
		this.hint(null);
	}

	label(y, text) {
		return svg("text", { class: "tick", x: 0, y }, text);
	}

	rate(top) {
		const most = Math.max(...this.slices.map(slice => slice.samples), 1);
		const bars = this.slices.flatMap((slice, i) => {
			const height = slice.samples / most * RATE;
			return height ? [svg("rect", {
				class: "rate", x: this.x(i), y: top + RATE - height, width: Math.max(this.plot / this.slices.length - 0.6, 0.6), height,
			})] : [];
		});
		const each = most / (this.state.data.time.slice_ns / 1e9);
		const names = this.left > 60 ? ["samples", `${formatShort(each)}/s`] : ["rate", formatShort(each)];
		return [...names.map((text, i) => this.label(top + 10 + 14 * i, text)), ...bars];
	}

	heat(top) {
		const cells = heatCells(this.slices);
		const rows = Math.max(...cells.map(cell => cell.row), 11) + 1;
		const most = Math.max(...cells.map(cell => cell.count), 1);
		const y = row => top + (rows - 1 - row) * HEAT_ROW;
		const parts = cells.map(cell => svg("rect", {
			class: `cell cool${heatStep(cell.count, most)}`, x: this.x(cell.slice), y: y(cell.row),
			width: this.plot / this.slices.length + 0.2, height: HEAT_ROW + 0.2,
		}));
		for (let row = 0; row < rows; row += 4)
			parts.push(svg("text", { class: "tick", x: this.left - 8, y: y(row) + HEAT_ROW, "text-anchor": "end" }, String(2 ** (row / 2))));
		parts.unshift(svg("rect", { class: "ground", x: this.left, y: top, width: this.plot, height: rows * HEAT_ROW }));
		return { parts, height: rows * HEAT_ROW };
	}

	strip(top, name, shares, kind) {
		return [
			this.label(top + STRIP - 3, name),
			svg("rect", { class: "ground", x: this.left, y: top, width: this.plot, height: STRIP }),
			...shares.flatMap((share, i) => (share > 0 ? [svg("rect", {
				class: kind, x: this.x(i), width: Math.max(this.plot / this.slices.length, 1),
				y: top + STRIP - Math.max(1, share * STRIP), height: Math.max(1, share * STRIP),
			})] : [])),
		];
	}

	axis(top) {
		const seconds = this.slices.length * this.state.data.time.slice_ns / 1e9;
		return timeTicks(seconds).map(tick => svg("text", {
			class: "tick", x: this.left + tick / seconds * this.plot, y: top + 12,
			"text-anchor": tick === 0 ? "start" : tick > seconds * 0.97 ? "end" : "middle",
		}, secondsText(tick)));
	}

	point(event) {
		if (!this.slices)
			return;
		const x = event.clientX - this.element.getBoundingClientRect().left;
		const slice = Math.floor((x - this.left) / this.plot * this.slices.length);
		this.hint(slice >= 0 && slice < this.slices.length ? slice : null);
	}

	hint(slice) {
		if (!this.slices)
			return;
		this.cursor.setAttribute("visibility", slice === null ? "hidden" : "visible");
		if (slice === null) {
			byId("when-hint").textContent = "Upper part: samples a second. Middle: samples by their latency in cycles, darker or, on a dark page, brighter where there are more.";
			return;
		}
		this.cursor.setAttribute("x", this.x(slice));
		const [time, samples, average, p50, p99, blind, lost] = this.row(slice);
		byId("when-hint").textContent = `${time}: ${samples} samples, mean ${average}, p50 ${p50}, p99 ${p99} cycles, blind ${blind}, lost ${lost}`;
	}

	row(i) {
		const { time } = this.state.data;
		const { samples, latency } = this.slices[i];
		return [
			secondsText(i * time.slice_ns / 1e9), formatCount(samples), formatCycles(mean(latency)),
			latency.count ? formatCount(quantile(latency, 500)) : "-", latency.count ? formatCount(quantile(latency, 990)) : "-",
			formatPercent(time.blind[i], time.blind[i] + time.armed[i]), formatBytes(time.lost[i]),
		];
	}

	drawTable() {
		byId("slices").replaceChildren(
			html("thead", {}, html("tr", {}, ...["from", "samples", "mean", "p50", "p99", "blind", "lost"].map(text => html("th", { scope: "col" }, text)))),
			html("tbody", {}, ...this.slices.map((slice, i) => {
				const [from, ...cells] = this.row(i);
				return html("tr", {}, html("th", { scope: "row" }, from), ...cells.map(text => html("td", {}, text)));
			})));
	}
}
