// SPDX-License-Identifier: LGPL-2.1-or-later
// Read the data that tools/html/page-data.c and page-rows.c wrote: columns of a recording (format 1), or
// rows of "report -j" or "diff -j" (format 2).
import { reportFromDiff } from "./diff-rows.js";
import { BUCKETS, bucketUpper } from "./histogram.js";
import { reportFromRows } from "./query-rows.js";

/** Return the bytes of a compressed block in base64. */
export async function inflate(text) {
	const letters = atob(text);
	const bytes = new Uint8Array(letters.length);
	for (let i = 0; i < letters.length; i++)
		bytes[i] = letters.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads variable-length integers: seven bits in each byte, the lowest first. */
class Reader {
	constructor(bytes, at, end) {
		this.bytes = bytes;
		this.at = at;
		this.end = end;
	}

	number() {
		let value = 0;
		let factor = 1;
		for (;;) {
			if (this.at >= this.end)
				throw new Error("the data ends too early");
			const byte = this.bytes[this.at++];
			value += (byte & 0x7f) * factor;
			if (byte < 0x80)
				return value;
			factor *= 128;
		}
	}

	/* The lowest bit is the sign. */
	signed() {
		const value = this.number();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}
}

function readColumn(reader, count) {
	const numbers = new Float64Array(count);
	for (let i = 0; i < count; i++)
		numbers[i] = reader.number();
	return numbers;
}

function readSigned(reader, count) {
	const numbers = new Float64Array(count);
	for (let i = 0; i < count; i++)
		numbers[i] = reader.signed();
	return numbers;
}

/** Return for each element the sum of the numbers before it, and at the end the sum of all. */
export function prefixSums(numbers) {
	const sums = new Float64Array(numbers.length + 1);
	for (let i = 0; i < numbers.length; i++)
		sums[i + 1] = sums[i] + numbers[i];
	return sums;
}

/* Read numbers of names, each of which is stored as the difference from the previous number. */
function readNames(reader, count) {
	const sums = prefixSums(readSigned(reader, count));
	return Uint32Array.from(sums.subarray(1));
}

/*
 * Read the numbers of the histograms of each row (PAGE_SET). A number is stored as twice the
 * difference from the previous one of the row, plus 1 if it is the last one.
 */
function readSets(reader, rows) {
	const first = new Float64Array(rows + 1);
	const sets = [];
	for (let row = 0; row < rows; row++) {
		let set = -1;
		let last = 0;
		while (!last) {
			const number = reader.number();
			last = number % 2;
			set += Math.floor(number / 2);
			if (number > 1)
				sets.push(set);
		}
		first[row + 1] = sets.length;
	}
	return { first, set: Uint8Array.from(sets) };
}

/* Read @count histograms, one after the other. Their columns begin with @prefix. */
function readBuckets(reader, prefix, count) {
	const sums = reader(`${prefix}sum`);
	const buckets = reader(`${prefix}bucket`);
	const extra = reader(`${prefix}extra`);
	const firstBucket = new Float64Array(count + 1);
	const sum = new Float64Array(count);
	const list = [];
	const counts = [];
	for (let i = 0; i < count; i++) {
		let bucket = -1;
		let last = 0;
		let estimate = 0;
		while (!last) {
			const number = buckets.number();
			last = number & 4;
			bucket += number >> 3;
			if (bucket >= BUCKETS)
				throw new Error(`a histogram has a bucket ${bucket}`);
			if (bucket < 0)
				break;
			const n = 1 + ((number & 3) === 3 ? 3 + extra.number() : number & 3);
			list.push(bucket);
			counts.push(n);
			estimate += n * bucketUpper(bucket);
		}
		firstBucket[i + 1] = list.length;
		sum[i] = estimate - sums.signed();
	}
	return { firstBucket, sum, bucket: Uint8Array.from(list), count: Float64Array.from(counts) };
}

/* Read the histograms of all rows. */
function readHistograms(reader, prefix, rows) {
	const sets = readSets(reader(`${prefix}set`), rows);
	return { ...sets, ...readBuckets(reader, prefix, sets.set.length) };
}

/* Read the slices of time; null if the recording has no times. */
function readTime(reader, time) {
	if (!time)
		return null;
	const ledger = { armed: [], blind: [], lost: [] };
	for (let i = 0; i < time.slices; i++)
		for (const key of Object.keys(ledger))
			ledger[key].push(reader(`time_${key}`).number());
	const count = time.slices * time.programs.length;
	return { ...time, ...ledger, untimed: readColumn(reader("time_untimed"), count), histograms: readBuckets(reader, "time_", count) };
}

/*
 * Call @fn for each histogram of a row, with the index of the histogram, its number in names, its
 * count, and the end of its highest bucket.
 */
function eachHistogram(h, row, fn) {
	for (let i = h.first[row]; i < h.first[row + 1]; i++) {
		const end = h.firstBucket[i + 1];
		let count = 0;
		for (let k = h.firstBucket[i]; k < end; k++)
			count += h.count[k];
		fn(i, h.set[i], count, count ? bucketUpper(h.bucket[end - 1]) : 0);
	}
}

/* Compute the columns of rows that follow from the histograms of the rows. */
function addSums(data) {
	const { rows, names, histograms: h } = data;
	const other = names.indexOf("other");
	const dram = new Set(data.dramLevels.map(name => names.indexOf(name)));
	for (const key of ["memory", "dram", "timed", "latency_sum"])
		rows[key] = new Float64Array(data.count);
	rows.samples = Float64Array.from(rows.untimed_others);
	for (let row = 0; row < data.count; row++) {
		let highest = 0;
		eachHistogram(h, row, (i, set, timed, upper) => {
			const count = timed + h.untimed[i];
			highest = Math.max(highest, upper);
			rows.latency_sum[row] += h.sum[i];
			rows.timed[row] += timed;
			rows.samples[row] += count;
			rows.memory[row] += set < other ? count : 0;
			rows.dram[row] += dram.has(set) ? count : 0;
		});
		rows.max[row] = highest - rows.max[row];
		if (data.late)
			eachHistogram(data.late, row, (i, set, count, upper) => {
				const key = set === other + 1 ? "issue_max" : "translation_max";
				rows[key][row] = upper - rows[key][row];
			});
	}
	rows.stores = rows.memory.map((n, row) => n - rows.loads[row]);
	rows.weight = rows.weight.map((n, row) => n + rows.samples[row] * data.meta.interval);
}

const NAMES = ["container", "program", "binary", "function", "file"];
const SIGNED = ["weight", "max"];
const COUNTS = ["line", "untimed_others", "loads", "branches", "mispredicted", "simd", "remote", "snooped", "peer", "modified"];
const LATE = ["issue_max", "translation_max"];

/**
 * Return the report: @meta is the JSON, @rows has a typed array for each column. @histograms are those
 * of the total latency of all rows, one after the other; @late those of issue and translation latency,
 * null if the report has too many rows for them. @time has the slices of time, or is null. The report of
 * a profile that the daemon counted also has the members of reportFromRows(), and a comparison has those
 * of reportFromDiff().
 */
export function parseReport(bytes) {
	const start = new Reader(bytes, 0, bytes.length);
	const length = start.number();
	if (start.at + length > bytes.length)
		throw new Error("the data ends too early");
	const meta = JSON.parse(new TextDecoder().decode(bytes.subarray(start.at, start.at + length)));
	if (meta.format === 2)
		return meta.diff ? reportFromDiff(meta) : reportFromRows(meta);
	if (meta.format !== 1)
		throw new Error(`the data has format ${meta.format}, this script reads formats 1 and 2`);
	const readers = {};
	let at = start.at + length;
	for (const [key, size] of Object.entries(meta.columns)) {
		readers[key] = new Reader(bytes, at, at + size);
		at += size;
	}
	if (at > bytes.length)
		throw new Error("the data ends too early");
	const rows = {};
	for (const key of NAMES)
		rows[key] = readNames(readers[key], meta.rows);
	for (const key of COUNTS)
		rows[key] = readColumn(readers[key], meta.rows);
	for (const key of SIGNED)
		rows[key] = readSigned(readers[key], meta.rows);
	const histograms = readHistograms(key => readers[key], "", meta.rows);
	histograms.untimed = readColumn(readers.untimed, histograms.set.length);
	const late = meta.columns.late_set ? readHistograms(key => readers[key], "late_", meta.rows) : null;
	for (const key of late ? LATE : [])
		rows[key] = readSigned(readers[key], meta.rows);
	const data = { meta, rows, count: meta.rows, names: meta.histograms, dramLevels: meta.dram_levels, histograms, late };
	data.time = readTime(key => readers[key], meta.time);
	addSums(data);
	return data;
}
