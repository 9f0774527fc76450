// SPDX-License-Identifier: LGPL-2.1-or-later
// What the page can show of a set of rows: widths, colours and columns.
import { DIFF_COLOURS, DIFF_WIDTHS } from "./comparison.js";
import { nodeSum } from "./tree.js";

const UNIT_NAMES = { micro_ops: "micro-operations", instructions: "instructions", operations: "operations" };

/** Return the measures that a box can be as wide as; @key is a column that can be added up. */
export function widthMeasures(data) {
	if (data.diff)
		return DIFF_WIDTHS.filter(measure => data.tree.sums[measure.key].at(-1) > 0);
	const unit = data.meta.header.share_of;
	const weighted = unit === "samples" ? [] : [{ key: "weight", label: "operations", of: UNIT_NAMES[unit] ?? "operations" }];
	return [
		...weighted,
		{ key: "samples", label: "samples", of: "samples" },
		{ key: "latency_sum", label: "latency sum", of: "cycles of latency", modelled: true },
		{ key: "dram", label: "DRAM accesses", of: "loads and stores that DRAM served", modelled: true },
		{ key: "remote", label: "remote accesses", of: "loads and stores that another chip served", modelled: true },
		{ key: "snooped", label: "snooped accesses", of: "loads and stores that another cache served", modelled: true },
		{ key: "memory", label: "loads and stores", of: "loads and stores", modelled: true },
		{ key: "loads", label: "loads", of: "loads", modelled: true },
		{ key: "stores", label: "stores", of: "stores", modelled: true },
		{ key: "simd", label: "SVE and SME", of: "SVE and SME operations", modelled: true },
		{ key: "branches", label: "branches", of: "branches", modelled: true },
		{ key: "mispredicted", label: "mispredicted branches", of: "mispredicted branches", modelled: true },
	].filter(measure => data.tree.sums[measure.key].at(-1) > 0);
}

/** The measures that a colour can show: a ratio of two columns, and the least value of each step. */
export const COLOURS = [
	{
		key: "latency", label: "mean latency", part: "latency_sum", whole: "timed", unit: "cycles", ramp: "warm",
		steps: [0, 10, 20, 40, 80, 160, 320],
	},
	{
		key: "dram", label: "DRAM share", part: "dram", whole: "memory", unit: "%", ramp: "cool",
		steps: [0, 1, 2, 5, 10, 20, 40],
	},
];

/** Return the measures that a colour can show. */
export function colourMeasures(data) {
	return data.diff ? DIFF_COLOURS : COLOURS;
}

/** Return the value that a node's colour shows; null if it has no such samples. */
export function colourValue(tree, node, colour) {
	if (colour.value)
		return colour.value(tree, node);
	const whole = nodeSum(tree, node, colour.whole);
	if (!whole)
		return null;
	return nodeSum(tree, node, colour.part) / whole * (colour.unit === "%" ? 100 : 1);
}

/** Return the number of the step that contains @value, or null. */
export function colourStep(colour, value) {
	if (value === null)
		return null;
	return colour.steps.findLastIndex(least => value >= least);
}

/** Return the texts of a legend, one for each step. */
export function legendLabels(colour) {
	return colour.steps.map((least, i) => {
		const next = colour.steps[i + 1];
		if (!i)
			return `below ${next}`;
		return next === undefined ? `${least} and more` : `${least} to ${next}`;
	});
}
