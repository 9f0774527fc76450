// SPDX-License-Identifier: LGPL-2.1-or-later
// The rows as a tree: container, program, binary, function and, if the report has them, lines.
import { prefixSums } from "./data.js";
import { mergeHistogram, newHistogram, quantile } from "./histogram.js";

const SUMMED = ["samples", "weight", "loads", "stores", "memory", "dram", "branches", "mispredicted", "simd", "remote",
	"snooped", "peer", "modified", "timed", "latency_sum"];

/** Return the names of the levels of the tree, the root first. */
export function treeLevels(data) {
	if (data.levels)
		return ["all", ...data.levels];
	const levels = ["all", "container", "program", "binary", "function"];
	return data.meta.lines ? [...levels, "line"] : levels;
}

function lineName(strings, rows, row) {
	return rows.line[row] ? `${strings.file[rows.file[row]]}:${rows.line[row]}` : "line unknown";
}

/* Return the name that the page shows; an empty name becomes a text such as "no binary". */
function shownName(level, name) {
	if (level === "container" && name === "-")
		return "no container";
	return name || `no ${level}`;
}

/* Compare the numbers of two rows in the columns of a level. */
function compareLevel(level, rows, a, b) {
	if (level === "line")
		return rows.file[a] - rows.file[b] || rows.line[a] - rows.line[b];
	return rows[level][a] - rows[level][b];
}

/* Return the first of @levels in which two rows differ; the number of levels if they do not. */
function firstDifference(levels, rows, a, b) {
	let at = 0;
	while (at < levels.length && !compareLevel(levels[at], rows, a, b))
		at++;
	return at;
}

function compareRows(levels, rows, a, b) {
	const at = firstDifference(levels, rows, a, b);
	return at < levels.length ? compareLevel(levels[at], rows, a, b) : a - b;
}

function newNode(level, depth, raw, parent, first) {
	return { level, depth, raw, name: shownName(level, raw), parent, first, end: first, children: [] };
}

/**
 * Return the tree of a report. The rows of a node are @order[first] to @order[end - 1].
 * An element of @sums is the sum over all rows before it, so the sum over a node is the difference
 * of two elements. @raw is the name in the report, and @name the name that the page shows.
 */
export function buildTree(data) {
	const { rows, count, meta } = data;
	const levels = treeLevels(data).slice(1);
	const order = Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => compareRows(levels, rows, a, b));
	const root = newNode("all", 0, "all samples", null, 0);
	const nodes = [root];
	const open = [root];
	for (let i = 0; i < count; i++) {
		const row = order[i];
		/* Two files with the same path have rows with equal names: each row is a leaf. */
		const same = i ? Math.min(firstDifference(levels, rows, order[i - 1], row), levels.length - 1) : 0;
		open.length = same + 1;
		for (let depth = open.length; depth <= levels.length; depth++) {
			const level = levels[depth - 1];
			const name = level === "line" ? lineName(meta.strings, rows, row) : meta.strings[level][rows[level][row]];
			const node = newNode(level, depth, name, open[depth - 1], i);
			open[depth - 1].children.push(node);
			open.push(node);
			nodes.push(node);
		}
		for (const node of open)
			node.end = i + 1;
	}
	nodes.forEach((node, id) => { node.id = id; });
	const sums = {};
	for (const key of data.summed ?? SUMMED)
		sums[key] = prefixSums(Float64Array.from(order, row => rows[key][row]));
	return { root, nodes, order, sums, levels: treeLevels(data) };
}

/** Return the sum of a measure over a node. */
export function nodeSum(tree, node, key) {
	return tree.sums[key][node.end] - tree.sums[key][node.first];
}

/** Return the nodes from the root to @node. */
export function nodePath(node) {
	const path = [];
	for (let at = node; at; at = at.parent)
		path.unshift(at);
	return path;
}

/** Return the node of @tree with the names of @other, a node of another tree; its nearest parent if there is none. */
export function findNode(tree, other) {
	let node = tree.root;
	for (const { level, raw } of nodePath(other).slice(1)) {
		const child = node.children.find(each => each.level === level && each.raw === raw);
		if (!child)
			break;
		node = child;
	}
	return node;
}

/** Return the children of @node, the largest first, those of equal size by name. */
export function sortedChildren(tree, node, key) {
	node.sorted ??= {};
	node.sorted[key] ??= node.children.filter(child => nodeSum(tree, child, key) > 0).sort((a, b) =>
		nodeSum(tree, b, key) - nodeSum(tree, a, key) || (a.name < b.name ? -1 : 1));
	return node.sorted[key];
}

/** Return the nodes of one level below or at @node. */
export function nodesOfLevel(node, level) {
	if (node.level === level)
		return [node];
	return node.children.flatMap(child => nodesOfLevel(child, level));
}

/* Add the histograms of a row to @sets, by number: a count of accesses, and their latency. */
function addHistograms(sets, h, row) {
	for (let i = h.first[row]; i < h.first[row + 1]; i++) {
		const { latency } = sets[h.set[i]];
		latency.sum += h.sum[i];
		sets[h.set[i]].count += h.untimed ? h.untimed[i] : 0;
		for (let k = h.firstBucket[i]; k < h.firstBucket[i + 1]; k++) {
			sets[h.set[i]].count += h.count[k];
			latency.count += h.count[k];
			latency.bucket[h.bucket[k]] += h.count[k];
		}
	}
}

const scratch = newHistogram();

/** Return a quantile of the total latency of a node; null if it has none. */
export function nodeQuantile(data, tree, node, permille) {
	const { histograms: h, rows } = data;
	scratch.bucket.fill(0);
	scratch.count = scratch.max = 0;
	for (let at = node.first; at < node.end; at++) {
		const row = tree.order[at];
		scratch.max = Math.max(scratch.max, rows.max[row]);
		for (let k = h.firstBucket[h.first[row]]; k < h.firstBucket[h.first[row + 1]]; k++) {
			scratch.bucket[h.bucket[k]] += h.count[k];
			scratch.count += h.count[k];
		}
	}
	return scratch.count ? quantile(scratch, permille) : null;
}

/**
 * Return the histograms of a node: @total, @issue and @translation, and @levels, by name: @count loads
 * and stores, and their @latency.
 */
export function nodeHistograms(data, tree, node) {
	const { names, rows } = data;
	const other = names.indexOf("other");
	const sets = names.map(() => ({ count: 0, latency: newHistogram() }));
	const [total, issue, translation] = [newHistogram(), sets[other + 1].latency, sets[other + 2].latency];
	for (let at = node.first; at < node.end; at++) {
		const row = tree.order[at];
		addHistograms(sets, data.histograms, row);
		total.max = Math.max(total.max, rows.max[row]);
		if (!data.late)
			continue;
		addHistograms(sets, data.late, row);
		issue.max = Math.max(issue.max, rows.issue_max[row]);
		translation.max = Math.max(translation.max, rows.translation_max[row]);
	}
	for (const set of sets.slice(0, other + 1))
		mergeHistogram(total, set.latency);
	const levels = Object.fromEntries(sets.slice(0, other).map((set, i) => [names[i], set]).filter(([, set]) => set.count));
	return { total, issue, translation, levels };
}
