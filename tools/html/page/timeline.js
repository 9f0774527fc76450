// SPDX-License-Identifier: LGPL-2.1-or-later
// Draw the counters of the recording over time: rate, latencies, blind time and losses.
import { byId, svg } from "./dom.js";
import { formatBytes, formatCount, formatCycles, formatPercent, formatShort } from "./format.js";
import { mean, quantile } from "./histogram.js";
import { TimePlot } from "./time-plot.js";
import { hasTimes, heatCells, heatStep, nodeSlices, timeTicks } from "./time.js";

const RATE = 52;
const HEAT_ROW = 7;
const STRIP = 14;
const GAP = 10;

function secondsText(seconds) {
	return `${Number(seconds.toPrecision(4))} s`;
}

/* Return whether any number of a ledger is above 0. */
function any(numbers) {
	return numbers.some(n => n > 0);
}

/** Draws the section "When" for a selection of a recording. */
export class Timeline extends TimePlot {
	help = "Upper part: samples a second. Middle: samples by their latency in cycles, darker or, on a dark page, brighter where there are more.";

	draw(state) {
		const { data, node } = state;
		this.state = state;
		if (!data.time) {
			this.clear(data.counted
				? "This profile has counters without times. “speprof timeline” shows the counters of each minute, and a recording has all times."
				: "The recording has no times, or was read from standard input.");
			return;
		}
		if (!hasTimes(data.time, node)) {
			this.clear(`The program ${this.programOf(node).name} is not counted by time: a page has the times of the ` +
				`${data.time.programs.length - 1} programs that were sampled first.`);
			return;
		}
		const of = node.depth > 2 ? `the program ${this.programOf(node).name}, as functions are not counted by time` : "the selection";
		byId("when-note").textContent = `Samples of ${of}${state.modelled ? "; their latencies are modelled" : ""}. ` +
			"Blind time and losses are those of all CPUs.";
		this.slices = nodeSlices(data.time, node);
		this.count = this.slices.length;
		this.paint();
		this.drawTable(["from", "samples", "mean", "p50", "p99", "blind", "lost"]);
	}

	programOf(node) {
		return node.depth > 2 ? this.programOf(node.parent) : node;
	}

	paint() {
		const { time } = this.state.data;
		this.measure();
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
		this.show(y, `Samples, latencies, blind time and losses in ${this.count} slices of time; the table below has the numbers`, parts);
	}

	rate(top) {
		const most = Math.max(...this.slices.map(slice => slice.samples), 1);
		const each = most / (this.state.data.time.slice_ns / 1e9);
		const names = this.left > 60 ? ["samples", `${formatShort(each)}/s`] : ["rate", formatShort(each)];
		return [...names.map((text, i) => this.label(top + 10 + 14 * i, text)),
			...this.bars(top, RATE, this.slices.map(slice => slice.samples / most), "rate", 0.6, 0)];
	}

	heat(top) {
		const cells = heatCells(this.slices);
		const rows = Math.max(...cells.map(cell => cell.row), 11) + 1;
		const most = Math.max(...cells.map(cell => cell.count), 1);
		const y = row => top + (rows - 1 - row) * HEAT_ROW;
		const parts = cells.map(cell => svg("rect", {
			class: `cell cool${heatStep(cell.count, most)}`, x: this.x(cell.slice), y: y(cell.row),
			width: this.plot / this.count + 0.2, height: HEAT_ROW + 0.2,
		}));
		for (let row = 0; row < rows; row += 4)
			parts.push(svg("text", { class: "tick", x: this.left - 8, y: y(row) + HEAT_ROW, "text-anchor": "end" }, String(2 ** (row / 2))));
		parts.unshift(this.ground(top, rows * HEAT_ROW), this.label(top + rows * HEAT_ROW, this.left > 60 ? "cycles" : ""));
		return { parts, height: rows * HEAT_ROW };
	}

	strip(top, name, shares, kind) {
		return [this.label(top + STRIP - 3, name), this.ground(top, STRIP), ...this.bars(top, STRIP, shares, kind)];
	}

	axis(top) {
		const seconds = this.count * this.state.data.time.slice_ns / 1e9;
		return timeTicks(seconds).map(tick => this.tick(top, tick / seconds, secondsText(tick)));
	}

	describe([time, samples, average, p50, p99, blind, lost]) {
		return `${time}: ${samples} samples, mean ${average}, p50 ${p50}, p99 ${p99} cycles, blind ${blind}, lost ${lost}`;
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
}
