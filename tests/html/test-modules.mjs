// SPDX-License-Identifier: LGPL-2.1-or-later
// Test the functions of the page that do not draw. The folder MODULES has the modules of tools/html/page.
//
// usage: MODULES=FOLDER node --test test-modules.mjs
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";

const load = name => import(`${process.env.MODULES}/${name}.js`);
const [code, comparison, data, format, heading, histogram, layout, levels, measures, memory, queryRows, search, table, time, tree, trend] = await Promise.all(
	["code", "comparison", "data", "format", "heading", "histogram", "layout", "levels", "measures", "memory", "query-rows", "search", "table", "time", "tree", "trend"].map(load));

/* ---- A report with two containers, three functions and a few latencies ---- */

function varint(n) {
	const bytes = [];
	for (; n >= 128; n = Math.floor(n / 128))
		bytes.push(n % 128 + 128);
	return [...bytes, n];
}

const zigzag = n => varint(n < 0 ? -2 * n - 1 : 2 * n);
const numbers = list => list.flatMap(varint);
const signed = list => list.flatMap(zigzag);

const HISTOGRAMS = ["unknown", "l1", "dram", "beyond_llc", "other", "issue", "translation"];

function header(changes = {}) {
	return {
		backend: "emulated", modelled: true, share_of: "micro_ops", duration_ns: 10e9, enabled_ns: 40e9, blind_ns: 4e8,
		totals: {
			records: 10, lost_bytes: 0, suspect_bytes: 0, unattributed: 0, unattributed_weight: 100,
			evicted: 0, filtered: 0, truncated_windows: 0, windows_with_gaps: 0, weight: { micro_ops: 1000 },
		},
		...changes,
	};
}

/*
 * Row 0: web, 4 loads from L1 of 5 cycles. Row 1: web, 1 load from DRAM of 200 and 2 branches of 2.
 * Row 2: db, 1 load that missed the last level, of 300, 1 store from L1 without a latency, and an
 * operation without a latency.
 */
const COLUMNS = {
	container: signed([0, 0, 1]), program: signed([0, 0, 1]), binary: signed([0, 0, 1]), function: signed([0, 1, 1]),
	file: signed([0, 0, 0]), line: numbers([0, 0, 0]),
	weight: signed([0, 0, 0]), untimed_others: numbers([0, 0, 1]), loads: numbers([4, 1, 1]), branches: numbers([0, 2, 0]),
	mispredicted: numbers([0, 1, 0]), simd: numbers([0, 0, 0]), remote: numbers([0, 0, 0]), snooped: numbers([0, 0, 0]),
	peer: numbers([0, 0, 0]), modified: numbers([0, 0, 0]), max: signed([0, 215 - 200, 304 - 300]),
	set: numbers([2 * 2 + 1, 3 * 2, 2 * 2 + 1, 2 * 2, 2 * 2 + 1]),
	untimed: numbers([0, 0, 0, 1, 0]),
	sum: signed([0, 215 - 200, 0, 0, 304 - 300]),
	bucket: numbers([(8 + 1) * 8 + 4 + 3, (29 + 1) * 8 + 4, (2 + 1) * 8 + 4 + 1, 4, (31 + 1) * 8 + 4]),
	extra: numbers([0]),
	/* Two slices of 1 s. nginx: 2 samples of 5 cycles in the first; postgres: 1 of 300 and 1 without in the second. */
	time_armed: numbers([900, 1000]), time_blind: numbers([100, 0]), time_lost: numbers([0, 64]),
	time_untimed: numbers([0, 0, 0, 1]), time_sum: signed([0, 0, 0, 4]),
	time_bucket: numbers([(8 + 1) * 8 + 4 + 1, 4, 4, (31 + 1) * 8 + 4]), time_extra: [],
	late_set: [], late_sum: [], late_bucket: [], late_extra: [], issue_max: [], translation_max: [],
};

function bytesOf(changes = {}, columns = COLUMNS) {
	const meta = {
		format: 1, version: "0", name: "test", lines: false, select: {}, histograms: HISTOGRAMS,
		dram_levels: ["dram", "beyond_llc"], header: header(), rows: 3, interval: 100,
		time: { slice_ns: 1e9, slices: 2, programs: [{ container: "web", program: "nginx" }, { container: "-", program: "postgres" }] },
		strings: { container: ["web", "-"], program: ["nginx", "postgres"], binary: ["/bin/nginx", "/bin/pg"], function: ["parse", "send", "scan"], file: [""] },
		columns: Object.fromEntries(Object.entries(columns).map(([key, list]) => [key, list.length])),
		...changes,
	};
	const json = new TextEncoder().encode(JSON.stringify(meta));
	return Uint8Array.from([...varint(json.length), ...json, ...Object.values(columns).flat()]);
}

function report() {
	const parsed = data.parseReport(bytesOf());
	return { data: parsed, tree: tree.buildTree(parsed) };
}

test("a node is found in another tree by its names", () => {
	const [one, two] = [report(), report()];
	for (const node of one.tree.nodes)
		assert.equal(tree.findNode(two.tree, node).id, node.id);
	const last = one.tree.nodes.at(-1);
	const other = report();
	for (const node of other.tree.nodes)
		if (node.level === last.level)
			node.raw = "another";
	assert.equal(tree.findNode(other.tree, last).level, last.parent.level);
});

test("the end of a bucket is that of daemon/util/histogram.c", () => {
	assert.deepEqual([0, 1, 2, 3, 5, 6, 10, 28, 30, 62].map(histogram.bucketUpper), [0, 1, 2, 2, 3, 4, 8, 181, 256, 65536]);
});

test("quantiles are bounded by the maximum", () => {
	const h = histogram.newHistogram();
	assert.equal(histogram.quantile(h, 500), 0);
	Object.assign(h, { count: 100, max: 250 });
	h.bucket[6] = 98;
	h.bucket[30] = 2;
	assert.equal(histogram.quantile(h, 500), 4);
	assert.equal(histogram.quantile(h, 990), 250);
});

test("a compressed block is inflated", async () => {
	const bytes = bytesOf();
	const text = deflateRawSync(bytes).toString("base64").replace(/(.{40})/g, "$1\n");
	assert.deepEqual(await data.inflate(`\n${text}\n`), bytes);
});

test("damaged data is refused", () => {
	const bytes = bytesOf();
	for (const length of [0, 1, 20, bytes.length - 1])
		assert.throws(() => data.parseReport(bytes.subarray(0, length)), /ends too early/, String(length));
	assert.throws(() => data.parseReport(bytesOf({ format: 3 })), /format 3/);
	assert.throws(() => data.parseReport(bytesOf({}, { ...COLUMNS, bucket: numbers([63 * 8 + 8 + 4, 4, 4, 4, 4]) })), /bucket 63/);
});

test("rows have the sums of their histograms", () => {
	const { rows } = report().data;
	assert.deepEqual([...rows.samples], [4, 3, 3]);
	assert.deepEqual([...rows.weight], [400, 300, 300]);
	assert.deepEqual([...rows.latency_sum], [20, 204, 300]);
	assert.deepEqual([...rows.timed], [4, 3, 1]);
	assert.deepEqual([...rows.memory], [4, 1, 2]);
	assert.deepEqual([...rows.stores], [0, 0, 1]);
	assert.deepEqual([...rows.dram], [0, 1, 1]);
	assert.deepEqual([...rows.max], [5, 200, 300]);
});

test("the tree has a node for each container, program, binary and function", () => {
	const { tree: built } = report();
	const names = node => [node.name, node.children.map(names)];
	assert.deepEqual(names(built.root), ["all samples", [
		["web", [["nginx", [["/bin/nginx", [["parse", []], ["send", []]]]]]]],
		["no container", [["postgres", [["/bin/pg", [["scan", []]]]]]]],
	]]);
	assert.equal(tree.nodeSum(built, built.root, "samples"), 10);
	assert.equal(tree.nodeSum(built, built.root.children[0], "latency_sum"), 224);
	assert.deepEqual(tree.sortedChildren(built, built.root, "latency_sum").map(node => node.name), ["no container", "web"]);
	assert.deepEqual(tree.nodesOfLevel(built.root, "function").map(node => node.name), ["parse", "send", "scan"]);
	assert.deepEqual(tree.nodePath(built.nodes.at(-1)).map(node => node.level), ["all", "container", "program", "binary", "function"]);
});

test("histograms of a node are those of its rows together", () => {
	const { data: parsed, tree: built } = report();
	const all = tree.nodeHistograms(parsed, built, built.root);
	assert.equal(all.total.count, 8);
	assert.equal(all.total.sum, 524);
	assert.equal(all.total.max, 300);
	assert.equal(histogram.quantile(all.total, 500), 5);
	assert.equal(histogram.quantile(all.total, 990), 300);
	assert.deepEqual(Object.entries(all.levels).map(([name, level]) => [name, level.count]), [["l1", 5], ["dram", 1], ["beyond_llc", 1]]);
});

test("the table of levels counts what missed the last level cache as DRAM", () => {
	const { data: parsed, tree: built } = report();
	const rows = levels.levelTable(parsed, tree.nodeHistograms(parsed, built, built.root).levels);
	assert.deepEqual(rows.map(row => [row.name, row.count, row.mean, row.p50, row.p99]), [["l1", 5, 5, 5, 5], ["dram", 2, 250, 215, 304]]);
	assert.equal(rows[0].share + rows[1].share, 1);
});

test("boxes are as wide as their share, and small ones are one box", () => {
	const { tree: built } = report();
	const boxes = layout.layoutBoxes(built, built.root, "samples", 1000);
	assert.deepEqual(boxes.filter(box => box.depth === 1).map(box => [box.node.name, box.x, box.width]), [["web", 0, 700], ["no container", 700, 300]]);
	const narrow = layout.layoutBoxes(built, built.root, "samples", 7);
	assert.deepEqual(narrow.filter(box => box.depth === 4).map(box => [box.node?.name, box.rest, Math.round(box.width)]), [[undefined, 2, 5]]);
});

test("a search finds rows by any name of their path", () => {
	const { tree: built } = report();
	assert.equal(search.matchSums(built, "  "), null);
	assert.deepEqual([...search.matchSums(built, "NGINX")], [0, 1, 2, 2]);
	assert.deepEqual([...search.matchSums(built, "scan")], [0, 0, 0, 1]);
	assert.equal(search.matchCount(search.matchSums(built, "end"), built.root.children[0]), 1);
});

test("sorting keeps the order of equal rows, and puts unknown values last", () => {
	const column = { value: item => item[1] };
	const items = [["a", 2], ["b", null], ["c", 3], ["d", 2]];
	assert.deepEqual(search.sortItems(items, column, true).map(([name]) => name).join(""), "cadb");
	assert.deepEqual(search.sortItems(items, column, false).map(([name]) => name).join(""), "adcb");
});

test("the table has the numbers of the rows", () => {
	const { data: parsed, tree: built } = report();
	const widths = measures.widthMeasures({ ...parsed, tree: built });
	const state = { data: parsed, tree: built, node: built.root, widths, width: widths[0], by: "function", sort: "p99", descending: true, matches: null };
	const columns = table.tableColumns(state);
	const items = table.tableItems(state, columns);
	assert.deepEqual(items.map(node => node.name), ["scan", "send", "parse"]);
	const texts = columns.filter(column => !column.name).map(column => [column.key, column.text(items[1])]);
	assert.deepEqual(Object.fromEntries(texts), {
		share: "30.0 %", samples: "3", weight: "300", latency_sum: "204", mean: "68.0", p50: "2", p99: "200", dram: "100.0 %",
		loads: "1", stores: "0", remote: "0.0 %", snooped: "0.0 %", branches: "2", mispredicted: "50.0 %",
	});
});

test("a measure that the report does not have is not offered", () => {
	const { data: parsed, tree: built } = report();
	assert.deepEqual(measures.widthMeasures({ ...parsed, tree: built }).map(each => each.key),
		["weight", "samples", "latency_sum", "dram", "memory", "loads", "stores", "branches", "mispredicted"]);
	parsed.meta.header.share_of = "samples";
	built.sums.dram.fill(0);
	assert.deepEqual(measures.widthMeasures({ ...parsed, tree: built }).map(each => each.key),
		["samples", "latency_sum", "memory", "loads", "stores", "branches", "mispredicted"]);
});

test("each value has a step of its colour", () => {
	const [latency] = measures.COLOURS;
	assert.deepEqual([null, 0, 9.9, 10, 319, 320, 1e6].map(value => measures.colourStep(latency, value)), [null, 0, 0, 1, 5, 6, 6]);
	assert.equal(measures.legendLabels(latency).length, latency.steps.length);
});

test("a ledger that is not known is not 0", () => {
	const items = Object.fromEntries(heading.ledgerItems(header()).map(item => [item.label, item.text]));
	assert.deepEqual(items, { samples: "10", duration: "10.0 s", lost: "0 B", suspect: "0 B", blind: "1.0 %", unattributed: "10.0 %" });
	const unknown = header({ duration_ns: null, enabled_ns: null, blind_ns: null });
	unknown.totals.lost_bytes = null;
	const texts = heading.ledgerItems(unknown).map(item => item.text);
	assert.deepEqual(texts, ["10", "not known", "not known", "0 B", "not known", "10.0 %"]);
	const held = heading.ledgerItems(header({ cpus_held: 12, interval_ns: 1e6, interval_longest_ns: 4e6 })).at(-1);
	assert.deepEqual([held.label, held.text, held.note], ["interval", "up to 4.00 ms", "12 CPUs sample less often"]);
	unknown.source = "saved";
	assert.equal(heading.ledgerItems(unknown)[3].text, "not known");
});

test("numbers have the units of speprof report", () => {
	assert.deepEqual([0, 999, 1000, 1234567].map(format.formatCount), ["0", "999", "1,000", "1,234,567"]);
	assert.deepEqual([0, 999, 1000, 123456, 1e9].map(format.formatShort), ["0", "999", "1.0 k", "123 k", "1.0 G"]);
	assert.deepEqual([0, 1023, 1024, 32768, 5e9].map(format.formatBytes), ["0 B", "1023 B", "1.0 KiB", "32 KiB", "4.7 GiB"]);
	assert.equal(format.formatPercent(1, 0), "-");
	assert.equal(format.formatCycles(null), "-");
});

test("slices of time are those of the selection, or of its program", () => {
	const { data: parsed, tree: built } = report();
	const samples = node => time.nodeSlices(parsed.time, node).map(slice => slice.samples);
	const [web, none] = built.root.children;
	assert.deepEqual([parsed.time.armed, parsed.time.blind, parsed.time.lost], [[900, 1000], [100, 0], [0, 64]]);
	assert.deepEqual(samples(built.root), [2, 2]);
	assert.deepEqual(samples(web), [2, 0]);
	assert.deepEqual(samples(none), [0, 2]);
	assert.deepEqual(samples(built.nodes.find(node => node.name === "scan")), [0, 2]);
	assert.ok(built.nodes.every(node => time.hasTimes(parsed.time, node)));
	const without = { ...parsed.time, programs: parsed.time.programs.map(program => ({ ...program, program: "" })) };
	assert.deepEqual(built.nodes.filter(node => time.hasTimes(without, node)).map(node => node.depth), [0, 1, 1]);
	const { latency } = time.nodeSlices(parsed.time, none)[1];
	assert.deepEqual([latency.count, latency.sum, latency.max], [1, 300, 304]);
	assert.equal(data.parseReport(bytesOf({ time: undefined })).time, null);
});

test("the heat map has two rows for each octave", () => {
	assert.deepEqual([0, 1, 2, 6, 8, 10, 12, 14].map(bucket => [histogram.bucketUpper(bucket), time.heatRow(bucket)]),
		[[0, 0], [1, 0], [2, 2], [4, 4], [5, 5], [8, 6], [11, 7], [16, 8]]);
	const { data: parsed, tree: built } = report();
	assert.deepEqual(time.heatCells(time.nodeSlices(parsed.time, built.root)), [{ slice: 0, row: 5, count: 2 }, { slice: 1, row: 17, count: 1 }]);
	assert.deepEqual([1, 2, 1000].map(count => time.heatStep(count, 1000)), [0, 0, 6]);
	assert.equal(time.heatStep(1, 1), 6);
});

test("a time axis has round ticks", () => {
	assert.deepEqual(time.timeTicks(10), [0, 2, 4, 6, 8, 10]);
	assert.deepEqual(time.timeTicks(0.03), [0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03]);
	for (const seconds of [0.001, 0.7, 1, 59, 61, 3600, 86400])
		assert.ok(time.timeTicks(seconds).length <= 9 && time.timeTicks(seconds).length >= 3, String(seconds));
});

/* ---- Rows in the format of "report -j" ---- */

function jsonRow(changes) {
	return {
		container: "web", program: "nginx", binary: "/bin/nginx", function: "parse", samples: 4, memory: 4, dram: 0, branches: 0, mispredicted: 0,
		latency_sum: 20, mean: 5, remote: 0, levels: { l1: 4 }, loads: 4, stores: 0, simd: 0, snooped: 0, peer: 0, modified: 0,
		weight: { micro_ops: 400 }, latency_counts: { 5: 4 }, ...changes,
	};
}

function reportOf(keys, rows, changes = {}) {
	const meta = {
		format: 2, version: "0", name: "daemon", select: {}, histograms: HISTOGRAMS, dram_levels: ["dram", "beyond_llc"], memory: null,
		report: { ...header(), keys, rows, other: { share: 0, samples: 0, rows: 0 }, ...changes },
	};
	const json = new TextEncoder().encode(JSON.stringify(meta));
	const parsed = data.parseReport(Uint8Array.from([...varint(json.length), ...json]));
	return { data: parsed, tree: tree.buildTree(parsed) };
}

const KEYS = ["container", "program", "binary", "function"];

test("rows by level become one row with the latency of each level", () => {
	const { data: parsed, tree: built } = reportOf([...KEYS, "level"], [
		jsonRow({ level: "l1" }),
		jsonRow({ level: "dram", samples: 2, memory: 2, dram: 2, loads: 2, latency_sum: 200, latency_counts: { 215: 1 }, weight: { micro_ops: 200 } }),
		jsonRow({ level: null, samples: 3, memory: 0, loads: 0, branches: 3, latency_sum: 4, latency_counts: { 2: 2 }, weight: { micro_ops: 300 } }),
	]);
	assert.equal(parsed.count, 1);
	const { total, levels: served } = tree.nodeHistograms(parsed, built, built.root);
	assert.deepEqual([total.count, total.sum, total.max], [7, 224, 215]);
	assert.deepEqual(Object.entries(served).map(([name, level]) => [name, level.count, level.latency.count, level.latency.sum]), [["l1", 4, 4, 20], ["dram", 2, 1, 200]]);
	assert.deepEqual(["samples", "weight", "memory", "dram", "timed", "branches"].map(key => tree.nodeSum(built, built.root, key)), [9, 900, 6, 2, 7, 3]);
	assert.equal(tree.nodeQuantile(parsed, built, built.root, 500), 5);
	assert.ok(!parsed.sumsOnly);
});

test("rows without levels have the latency of all levels together, and samples of no row are a row", () => {
	const { data: parsed, tree: built } = reportOf(KEYS, [jsonRow({})], { other: { share: 0.25, samples: 6, rows: 9 } });
	const { total, levels: served } = tree.nodeHistograms(parsed, built, built.root);
	assert.deepEqual([total.count, total.sum, served.l1.count, served.l1.latency.count], [4, 20, 4, 0]);
	assert.deepEqual(levels.levelTable(parsed, served).map(row => [row.name, row.count, row.mean]), [["l1", 4, null]]);
	assert.deepEqual(built.root.children.map(node => [node.name, tree.nodeSum(built, node, "samples"), tree.nodeSum(built, node, "weight")]),
		[["web", 4, 400], ["[other]", 6, 250]]);
});

test("rows of a period have sums, and neither histograms nor percentiles", () => {
	const unknown = { levels: null, loads: null, stores: null, simd: null, snooped: null, peer: null, modified: null, latency_counts: null };
	const { data: parsed, tree: built } = reportOf([...KEYS, "line"], [jsonRow({ ...unknown, file: "a.c", line: 7 }), jsonRow({ ...unknown, file: null, line: null })]);
	assert.ok(parsed.sumsOnly);
	assert.deepEqual(tree.nodesOfLevel(built.root, "line").map(node => node.name), ["a.c:7", "line unknown"]);
	assert.equal(tree.nodeQuantile(parsed, built, built.root, 500), null);
	const widths = measures.widthMeasures({ ...parsed, tree: built });
	const state = { data: parsed, tree: built, node: built.root, widths, width: widths[0], by: "function", sort: "share", descending: true, matches: null };
	const texts = Object.fromEntries(table.tableColumns(state).filter(column => !column.name).map(column => [column.key, column.text(built.root)]));
	assert.deepEqual(texts, {
		share: "100.0 %", samples: "8", weight: "800", latency_sum: "40", mean: "5.0", dram: "0.0 %", memory: "8", remote: "0.0 %",
		branches: "0", mispredicted: "-",
	});
});

test("a bucket that no histogram has is refused", () => {
	assert.throws(() => reportOf(KEYS, [jsonRow({ latency_counts: { 7: 1 } })]), /bucket up to 7/);
});

/* ---- Rows in the format of "diff -j" ---- */

function diffSide(changes = {}) {
	return { share: 0.5, mean: 10, p99: 20, dram: 0.25, remote: 0, samples: 10, operations: 1000, latency_sum: 100, latency_samples: 10, memory: 8, ...changes };
}

function diffRow(name, before, after, marks = []) {
	return {
		container: "web", program: "nginx", binary: "/bin/nginx", function: name, before, after,
		exceeds_chance: Object.fromEntries(["share", "mean", "p99", "dram", "remote"].map(key => [key, marks.includes(key)])),
	};
}

function comparisonOf(keys, rows) {
	const side = { profile: "a", modelled: true, samples: 20, effective_samples: 20, operations: 2000 };
	const meta = {
		format: 2, version: "0", name: null, select: {}, histograms: HISTOGRAMS, dram_levels: [], memory: null, report: null,
		diff: { before: side, after: side, false_alarm_rate: 0.05, tests: 4, words: [], keys, rows, rows_total: rows.length },
	};
	const json = new TextEncoder().encode(JSON.stringify(meta));
	const parsed = data.parseReport(Uint8Array.from([...varint(json.length), ...json]));
	return { data: parsed, tree: tree.buildTree(parsed) };
}

const NOTHING = diffSide({ share: 0, mean: 0, dram: 0, samples: 0, operations: 0, latency_sum: 0, latency_samples: 0, memory: 0 });

test("a comparison has the counts of both sides, and their differences", () => {
	const slower = diffSide({ mean: 15, latency_sum: 150, dram: 0.5 });
	const { data: parsed, tree: built } = comparisonOf(["container", "program", "function"],
		[diffRow("parse", diffSide(), slower, ["mean", "dram"]), diffRow("send", diffSide(), NOTHING), diffRow("write", NOTHING, diffSide())]);
	assert.deepEqual(built.levels, ["all", "container", "program", "binary", "function"]);
	const parse = built.nodes.find(node => node.name === "parse");
	const colours = Object.fromEntries(measures.colourMeasures(parsed).map(each => [each.key, each]));
	assert.equal(measures.colourValue(built, parse, colours.latency), 50);
	assert.equal(measures.colourValue(built, parse, colours.dram), 25);
	assert.equal(measures.colourValue(built, built.nodes.find(node => node.name === "send"), colours.latency), null);
	assert.deepEqual([-60, -50, 0, 5, 50, 900].map(value => measures.colourStep(colours.latency, value)), [0, 1, 3, 4, 6, 6]);
	const texts = node => Object.fromEntries(comparison.comparisonColumns(built, []).map(column => [column.key, column.text(node)]));
	assert.deepEqual(texts(parse), {
		share: "+2.5", marks: "2", "share-before": "50.0 %", "share-after": "50.0 %", "share-change": "0.0 %", "mean-before": "10.0", "mean-after": "15.0",
		"mean-change": "+5.0", "dram-before": "25.0 %", "dram-after": "50.0 %", "dram-change": "+25.0 %", "remote-before": "0.0 %", "remote-after": "0.0 %",
		"remote-change": "0.0 %", "samples-before": "10", "samples-after": "10",
	});
	assert.deepEqual(["mean-before", "mean-after", "mean-change", "share"].map(key => texts(built.nodes.find(node => node.name === "send"))[key]), ["10.0", "-", "-", "-5.0"]);
	assert.deepEqual(measures.widthMeasures({ ...parsed, tree: built }).map(each => each.key),
		["operations_after", "operations_before", "latency_sum_after", "latency_sum_before"]);
});

test("a comparison by any keys has a level for each key", () => {
	const row = { ...diffRow("parse", diffSide(), diffSide()), file: "a.c", line: 7, op: null };
	assert.deepEqual(comparisonOf(["op"], [row]).tree.levels, ["all", "op"]);
	const { tree: built } = comparisonOf(["function", "line"], [row]);
	assert.deepEqual(built.levels, ["all", "binary", "function", "line"]);
	assert.equal(built.nodes.at(-1).name, "a.c:7");
});

test("a name of a container becomes a glob that matches only it", () => {
	assert.equal(queryRows.exactGlob("web-1.service"), "web-1.service");
	assert.equal(queryRows.exactGlob("a*b?[c]\\x"), "a\\*b\\?\\[c]\\\\x");
});

test("a timeline has a slice for each step, also without samples", () => {
	const point = start => [0, start, start + 50, 50, 10];
	const { start, points } = trend.trendSlices([59, 130, 310].map(point), 60, 5);
	assert.equal(start, 60);
	assert.deepEqual(points, [null, point(130), null, null, point(310)]);
});

/* ---- Shared cache lines ---- */

/** An element of a document that only collects its texts. */
function fakeElement() {
	const children = [];
	return {
		children, attributes: {},
		setAttribute(key, value) { this.attributes[key] = value; },
		append(...more) { children.push(...more); },
		replaceChildren(...more) { children.splice(0, children.length, ...more); },
		get textContent() { return children.map(child => child.textContent ?? child).join("|"); },
	};
}

/** Draw the section of shared cache lines, and return its text. */
function memoryText(lines) {
	const body = fakeElement();
	globalThis.document = { createElement: fakeElement, createElementNS: fakeElement, getElementById: () => body };
	memory.drawMemory({ meta: { memory: { lines, pages: [], nodes: [], line_size: 64 } } }, false);
	delete globalThis.document;
	return body.textContent;
}

test("shared lines have the advice, and the data and source line of each user", () => {
	const user = { cpu: 3, offset: 8, samples: 5, stores: 2, container: "web", process: "nginx", function: "count" };
	const line = { address: "0x1000", sharing: "false", suspected: false, cpus: 2, samples: 10, loads: 5, stores: 5, latency_sum: 100,
		advice: "Keep a copy for each CPU.", sharers: [
			{ ...user, field: "hits", type: "struct stats", source: "/src/app/count.c:9" },
			{ ...user, field: "total", type: null, source: null }, { ...user, field: null, type: null, source: "count.c:10" }] };
	const text = memoryText([line, { ...line, address: "0x2000", advice: null }]);
	assert.ok(text.includes("|Keep a copy for each CPU.|CPU|offset|"), text);
	assert.equal(text.split("Keep a copy").length, 2);
	assert.ok(text.includes("|2|hits of struct stats|web › nginx › count|count.c:9|"), text);
	assert.ok(text.includes("|2|total|web › nginx › count|-|"), text);
	assert.ok(text.includes("|2|-|web › nginx › count|count.c:10|"), text);
});

test("an instruction has levels and targets as text, and a table only the columns that it needs", () => {
	const line = { offset: "0x10", instruction: "b.ne", samples: 8, memory: 4, levels: { l1: 1, dram: 3 }, targets: [
		{ offset: "0x20", binary: null, function: "<b>x", samples: 5 }, { offset: "0x30", binary: "/lib/c", function: null, samples: 1 }], other_targets: 2 };
	assert.equal(code.levelsText(line), "DRAM 75 %, L1 25 %");
	assert.equal(code.targetsText(line), "<b>x: 5, 0x30 in /lib/c: 1, others: 2");
	const bare = { offset: "0x9", instruction: null, samples: 0, file: null, line: null, source: null };
	assert.deepEqual(code.codeColumns([bare]).map(column => column.key), ["offset", "share", "samples", "mean", "p99", "instruction"]);
	assert.deepEqual(code.codeColumns([bare]).map(column => column.text(bare)), ["0x9", "", "", "-", "-", "not known"]);
	assert.ok(code.codeColumns([bare, line]).some(column => column.key === "targets"));
	const offset = code.codeColumns([bare])[0];
	assert.deepEqual(search.sortItems([line, bare], offset, false), [bare, line]);
	const source = code.codeColumns([{ ...line, file: "/src/a.c", line: 9, source: "</td><script>" }]).at(-1);
	assert.equal(source.text({ file: "/src/a.c", line: 9, source: "</td><script>" }), "a.c:9  </td><script>");
});
