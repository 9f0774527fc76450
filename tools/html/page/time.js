// SPDX-License-Identifier: LGPL-2.1-or-later
// The counters of the recording over time: slices of a selection, and their latencies.
import { bucketUpper, newHistogram } from "./histogram.js";
import { nodePath } from "./tree.js";

/**
 * Return whether the samples of a program, by its names, belong to @node. Below programs nothing is
 * known by time, so a function has the slices of its program.
 */
export function programInNode(program, node) {
	const [, container, executable] = nodePath(node);
	return (!container || container.raw === program.container) && (!executable || executable.raw === program.program);
}

/**
 * Return whether the page has the times of a node. Programs beyond a limit have them only as a part of
 * all programs (TIME_PROGRAMS_MAX in page-time.h).
 */
export function hasTimes(time, node) {
	return node.depth < 2 || time.programs.some(program => programInNode(program, node));
}

/**
 * Return the slices of a node: @samples, and the histogram @latency of those with a total latency.
 */
export function nodeSlices(time, node) {
	const { histograms: h } = time;
	const slices = Array.from({ length: time.slices }, () => ({ samples: 0, latency: newHistogram() }));
	time.programs.forEach((program, number) => {
		if (!programInNode(program, node))
			return;
		slices.forEach((slice, at) => {
			const i = number * time.slices + at;
			slice.samples += time.untimed[i];
			slice.latency.sum += h.sum[i];
			for (let k = h.firstBucket[i]; k < h.firstBucket[i + 1]; k++) {
				slice.samples += h.count[k];
				slice.latency.count += h.count[k];
				slice.latency.bucket[h.bucket[k]] += h.count[k];
				slice.latency.max = Math.max(slice.latency.max, bucketUpper(h.bucket[k]));
			}
		});
	});
	return slices;
}

/** Return the row of the heat map that contains a bucket; an octave of latency has two rows. */
export function heatRow(bucket) {
	return Math.max(0, Math.ceil(2 * Math.log2(Math.max(bucketUpper(bucket), 1)) - 1e-9));
}

/**
 * Return the cells of a heat map that have samples, as { slice, row, count }.
 */
export function heatCells(slices) {
	return slices.flatMap(({ latency }, slice) => {
		const rows = new Map();
		latency.bucket.forEach((count, bucket) => {
			if (count)
				rows.set(heatRow(bucket), (rows.get(heatRow(bucket)) ?? 0) + count);
		});
		return [...rows].map(([row, count]) => ({ slice, row, count }));
	});
}

/** Return the step of a colour, 0 to 6, for a count from 1 to @most, on a logarithmic scale. */
export function heatStep(count, most) {
	return most > 1 ? Math.min(6, Math.floor(7 * Math.log(count) / Math.log(most))) : 6;
}

/** Return the ticks of a time axis of @seconds: at most nine round numbers. */
export function timeTicks(seconds) {
	const unit = 10 ** Math.floor(Math.log10(seconds || 1));
	const step = [0.1, 0.2, 0.5, 1, 2, 5].map(factor => factor * unit).find(each => seconds / each <= 8) ?? 10 * unit;
	const ticks = [];
	for (let i = 0; i * step <= seconds * 1.0001; i++)
		ticks.push(Number((i * step).toPrecision(6)));
	return ticks;
}
