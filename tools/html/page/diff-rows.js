// SPDX-License-Identifier: LGPL-2.1-or-later
// Convert the rows of "diff -j" to the columns of a comparison.

const SIDES = ["before", "after"];
const SIDE_COUNTS = ["samples", "operations", "latency_sum", "latency_samples", "memory", "dram", "remote"];

/* Return the levels of the tree: the keys, with the binary of a function before the function. */
function diffLevels(diff) {
	const { keys, rows } = diff;
	const at = keys.findIndex(key => ["function", "line", "instruction"].includes(key));
	if (at < 0 || keys.includes("binary") || !rows.some(row => "binary" in row))
		return keys;
	return [...keys.slice(0, at), "binary", ...keys.slice(at)];
}

/* Return a count of a side; of shares, the number of accesses that they are a share of is known. */
function sideCount(side, key) {
	return key === "dram" || key === "remote" ? Math.round(side[key] * side.memory) : side[key];
}

function numberNames(rows, level) {
	const numbers = new Map();
	const column = Uint32Array.from(rows, row => {
		const name = String(row[level] ?? "-");
		if (!numbers.has(name))
			numbers.set(name, numbers.size);
		return numbers.get(name);
	});
	return { column, names: [...numbers.keys()] };
}

/**
 * Return the report of a comparison. @meta.diff is an object of "diff -j". Its columns are the counts
 * of both sides, such as samples_before and samples_after; @diff.marks counts differences that exceed
 * chance.
 */
export function reportFromDiff(meta) {
	const { diff } = meta;
	const levels = diffLevels(diff);
	const strings = {};
	const rows = {};
	for (const level of levels) {
		const { column, names } = numberNames(diff.rows, level === "line" ? "file" : level);
		rows[level === "line" ? "file" : level] = column;
		strings[level === "line" ? "file" : level] = names;
	}
	rows.line = Float64Array.from(diff.rows, row => row.line ?? 0);
	for (const side of SIDES)
		for (const key of SIDE_COUNTS)
			rows[`${key}_${side}`] = Float64Array.from(diff.rows, row => sideCount(row[side], key));
	rows.marks = Float64Array.from(diff.rows, row => Object.values(row.exceeds_chance).filter(Boolean).length);
	rows.samples = rows.samples_after.map((count, row) => count + rows.samples_before[row]);
	const modelled = diff.before.modelled || diff.after.modelled;
	return {
		meta: { ...meta, header: { modelled }, strings },
		rows, count: diff.rows.length, levels, diff, late: null, time: null,
		summed: ["samples", "marks", ...SIDES.flatMap(side => SIDE_COUNTS.map(key => `${key}_${side}`))],
	};
}
