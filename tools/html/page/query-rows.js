// SPDX-License-Identifier: LGPL-2.1-or-later
// Convert rows in the format of "report -j" to the columns of a report.
import { BUCKETS, bucketUpper } from "./histogram.js";

/** Return a glob that matches only @name. */
export function exactGlob(name) {
	return name.replace(/[\\*?[]/g, "\\$&");
}

const ROW_NAMES = ["container", "program", "binary", "function", "file"];
const ROW_COUNTS = ["samples", "loads", "stores", "memory", "dram", "branches", "mispredicted", "simd", "remote", "snooped", "peer",
	"modified", "latency_sum"];

/* The bucket of each upper bound; the first one, if two buckets have the same bound. */
const BUCKET_OF = new Map(Array.from({ length: BUCKETS }, (_, i) => [String(bucketUpper(i)), i]).reverse());

/* Return the histogram of a row as a list of [bucket, count], the lowest bucket first. */
function rowBuckets(row) {
	return Object.entries(row.latency_counts ?? {}).map(([upper, count]) => {
		if (!BUCKET_OF.has(upper))
			throw new Error(`a histogram has a bucket up to ${upper}`);
		return [BUCKET_OF.get(upper), count];
	}).sort(([a], [b]) => a - b);
}

/*
 * Return the highest latency of a row, 0 without one: its p99, if that is in the highest bucket, as a percentile
 * is at most the highest latency; else the end of that bucket.
 */
function rowHighest(row) {
	const top = rowBuckets(row).at(-1)?.[0];
	if (top === undefined)
		return 0;
	return top > 0 && row.p99 > bucketUpper(top - 1) ? row.p99 : bucketUpper(top);
}

/*
 * Return the histograms of a row as { set, untimed, sum, buckets }. A row by level has the latency of
 * that level. Other rows have the latency of all levels together, as that of other operations.
 */
function rowSets(row, byLevel, names) {
	const buckets = rowBuckets(row);
	const timed = buckets.reduce((sum, [, count]) => sum + count, 0);
	const other = { set: names.indexOf("other"), untimed: 0, sum: row.latency_sum, buckets };
	if (byLevel && row.level !== null)
		return [{ ...other, set: names.indexOf(row.level), untimed: row.samples - timed }];
	const levels = byLevel ? {} : row.levels ?? {};
	return [
		...Object.entries(levels).map(([level, count]) => ({ set: names.indexOf(level), untimed: count, sum: 0, buckets: [] })),
		...(timed ? [other] : []),
	];
}

/* Samples with a latency: those in the histogram or, of a row that has only sums, all with a mean. */
function timedSamples(row) {
	if (row.latency_counts)
		return Object.values(row.latency_counts).reduce((sum, count) => sum + count, 0);
	return row.mean ? Math.round(row.latency_sum / row.mean) : 0;
}

/* Collects rows, each of which may have several parts. */
class RowList {
	constructor(unit, byLevel, names) {
		Object.assign(this, { unit, byLevel, names, index: new Map(), list: [] });
	}

	row(part) {
		const names = { container: part.container, program: part.program, binary: part.binary, function: part.function, file: part.file ?? "" };
		const line = part.line ?? 0;
		const key = JSON.stringify([names, line]);
		if (!this.index.has(key)) {
			this.index.set(key, this.list.length);
			const counts = Object.fromEntries([...ROW_COUNTS, "weight", "timed", "max"].map(name => [name, 0]));
			this.list.push({ names, line, counts, sets: [] });
		}
		return this.list[this.index.get(key)];
	}

	add(part) {
		const { counts, sets } = this.row(part);
		for (const key of ROW_COUNTS)
			counts[key] += part[key] ?? 0;
		counts.weight += part.weight[this.unit] ?? 0;
		counts.timed += timedSamples(part);
		counts.max = Math.max(counts.max, rowHighest(part));
		sets.push(...rowSets(part, this.byLevel, this.names));
	}

	/* Add a row of the samples that no other row has. */
	addRest(rest, header) {
		if (!rest?.samples)
			return;
		const { counts } = this.row({ container: "[other]", program: "", binary: "", function: "" });
		counts.samples = rest.samples;
		counts.weight = Math.round((rest.share ?? 0) * (header.totals.weight[this.unit] ?? 0));
	}

	columns(strings) {
		const rows = {};
		for (const key of ROW_NAMES) {
			const numbers = new Map();
			rows[key] = Uint32Array.from(this.list, ({ names }) => {
				if (!numbers.has(names[key]))
					numbers.set(names[key], numbers.size);
				return numbers.get(names[key]);
			});
			strings[key] = [...numbers.keys()];
		}
		for (const key of [...ROW_COUNTS, "weight", "timed", "max"])
			rows[key] = Float64Array.from(this.list, ({ counts }) => counts[key]);
		rows.line = Float64Array.from(this.list, ({ line }) => line);
		return rows;
	}

	histograms() {
		const h = { first: [0], firstBucket: [0], set: [], untimed: [], sum: [], bucket: [], count: [] };
		for (const { sets } of this.list) {
			for (const { set, untimed, sum, buckets } of sets) {
				h.set.push(set);
				h.untimed.push(untimed);
				h.sum.push(sum);
				for (const [bucket, count] of buckets) {
					h.bucket.push(bucket);
					h.count.push(count);
				}
				h.firstBucket.push(h.bucket.length);
			}
			h.first.push(h.set.length);
		}
		return h;
	}
}

/**
 * Return the report of a profile that the daemon counted: the same object as parseReport() returns for a
 * recording. @meta.report is an object of "report -j" by container, program, binary and function, and
 * perhaps line and level, sorted by operations. @sumsOnly: rows have sums, but no histograms.
 */
export function reportFromRows(meta) {
	const { report } = meta;
	const unit = report.share_of;
	const list = new RowList(unit, report.keys.includes("level"), meta.histograms);
	for (const row of report.rows)
		list.add(row);
	list.addRest(report.other, report);
	const strings = {};
	const rows = list.columns(strings);
	return {
		meta: { ...meta, header: report, strings, lines: report.keys.includes("line") },
		rows, count: list.list.length, names: meta.histograms, dramLevels: meta.dram_levels,
		histograms: list.histograms(), late: null, time: null,
		counted: true,
		sumsOnly: report.rows.some(row => row.latency_counts === null),
	};
}
