// SPDX-License-Identifier: LGPL-2.1-or-later
// What is counted for the selection: numbers, the table of levels, and histograms.
import { byId, html, nameText, svg } from "./dom.js";
import { formatCount, formatCycles, formatPercent } from "./format.js";
import { bucketUpper, mean, quantile } from "./histogram.js";
import { levelLabel, levelTable } from "./levels.js";
import { nodeHistograms, nodePath, nodeSum } from "./tree.js";

function numberRows(state, histograms) {
	const { tree, node, widths } = state;
	const sum = key => nodeSum(tree, node, key);
	const part = (key, whole) => `${formatCount(sum(key))}  (${formatPercent(sum(key), sum(whole))})`;
	const timed = sum("timed");
	const percentile = permille => (total.count ? formatCount(quantile(total, permille)) : "-");
	const memory = state.data.sumsOnly
		? [["loads and stores", formatCount(sum("memory")), true, "memory"]]
		: [["loads", formatCount(sum("loads")), true, "loads"], ["stores", formatCount(sum("stores")), true, "stores"]];
	const shares = widths.slice(0, 3).filter(width => width.key !== "samples" || !widths.some(each => each.key === "weight"));
	const { total } = histograms;
	return [
		...shares.map(width => [`share of ${width.of}`, formatPercent(sum(width.key), nodeSum(tree, tree.root, width.key)), width.modelled, `share-${width.key}`]),
		["samples", formatCount(sum("samples")), false, "samples"],
		...(widths[0].key === "weight" ? [["operations", formatCount(sum("weight")), false, "weight"]] : []),
		["latency sum", formatCount(sum("latency_sum")), true, "latency_sum"],
		["mean latency", formatCycles(timed ? sum("latency_sum") / timed : null), true, "mean"],
		["median, p50", percentile(500), true, "p50"],
		["slowest 1 %, p99", percentile(990), true, "p99"],
		...memory,
		["served by DRAM", part("dram", "memory"), true, "dram"],
		["from another chip", part("remote", "memory"), true, "remote"],
		...(state.data.sumsOnly ? [] : [["from another cache", part("snooped", "memory"), true, "snooped"]]),
		["branches", formatCount(sum("branches")), true, "branches"],
		["mispredicted", part("mispredicted", "branches"), true, "mispredicted"],
		...(state.data.sumsOnly ? [] : [["SVE and SME", formatCount(sum("simd")), true, "simd"]]),
	];
}

function drawNumbers(state, histograms) {
	const mark = modelled => (modelled && state.modelled ? "~" : "");
	byId("numbers").replaceChildren(
		html("h3", {}, "Numbers"),
		html("dl", { class: "numbers" }, ...numberRows(state, histograms).map(([label, text, modelled, key]) =>
			html("div", {}, html("dt", {}, mark(modelled) + label), html("dd", { "data-key": key }, text)))));
}

const SUMS_ONLY = "A period has only sums of its locations. The whole profile of a session and a recording have levels and histograms.";

function drawLevels(state, histograms) {
	const table = levelTable(state.data, histograms.levels);
	const mark = state.modelled ? "~" : "";
	const body = table.map(level => html("tr", {},
		html("th", { scope: "row" }, levelLabel(level.name)),
		html("td", {}, formatCount(level.count)),
		html("td", { class: "bar-cell" }, svg("svg", { class: "share", "aria-hidden": "true", viewBox: "0 0 100 10", preserveAspectRatio: "none" },
			svg("rect", { width: 100 * level.share, height: 10 })), html("span", {}, `${(100 * level.share).toFixed(1)} %`)),
		html("td", {}, formatCycles(level.mean)),
		html("td", {}, level.p50 === null ? "-" : formatCount(level.p50)),
		html("td", {}, level.p99 === null ? "-" : formatCount(level.p99))));
	byId("levels").replaceChildren(
		html("h3", {}, `${mark}Served by`),
		table.length
			? html("div", { class: "scroll", role: "region", "aria-label": "Levels", tabindex: "0" }, html("table", {}, html("thead", {}, html("tr", {}, ...["level", "accesses", "share", "mean", "p50", "p99"].map(text =>
				html("th", { scope: "col" }, text)))), html("tbody", {}, ...body)))
			: html("p", { class: "quiet" }, state.data.sumsOnly ? SUMS_ONLY : "No loads or stores."),
		table.length ? html("p", { class: "quiet" }, "Loads and stores by the cache or memory that served them; total latency in cycles.") : "");
}

const PLOT = { width: 360, height: 92, base: 74, left: 4 };

/* Octaves that the axis of a histogram has: an even number of at least 6, up to the highest value. */
function plotOctaves(h) {
	const last = h.bucket.findLastIndex(n => n > 0);
	const octaves = Math.ceil(Math.log2(Math.max(bucketUpper(last), 1)));
	return Math.min(16, Math.max(6, octaves + octaves % 2));
}

function plotX(cycles, octaves) {
	return PLOT.left + Math.log2(Math.max(cycles, 1)) / octaves * PLOT.width;
}

/*
 * Return a bar for each bucket with a count, from the end of the previous bucket to its own end.
 * The bar of bucket 1 includes bucket 0.
 */
function plotBars(h, octaves) {
	const counts = Array.from(h.bucket);
	counts[1] += counts[0];
	const most = Math.max(...counts.slice(1));
	return counts.flatMap((count, i) => {
		if (i === 0 || !count)
			return [];
		const from = i === 1 ? PLOT.left : plotX(bucketUpper(i - 1), octaves);
		const to = i === 1 ? PLOT.left + 3 : plotX(bucketUpper(i), octaves);
		const height = Math.max(1, count / most * (PLOT.base - 4));
		return svg("rect", { class: "bar", x: from + 0.5, y: PLOT.base - height, width: Math.max(to - from - 1, 1), height });
	});
}

function plotAxis(octaves) {
	const ticks = [];
	for (let octave = 0; octave <= octaves; octave += 2)
		ticks.push(svg("text", {
			class: "tick", x: plotX(2 ** octave, octaves), y: PLOT.height - 4,
			"text-anchor": octave === 0 ? "start" : octave === octaves ? "end" : "middle",
		}, String(2 ** octave)));
	return ticks;
}

function drawHistogram(label, h) {
	const octaves = plotOctaves(h);
	const p50 = quantile(h, 500);
	const p99 = quantile(h, 990);
	const marks = [[p50, "p50"], [p99, "p99"]].map(([at, name]) => svg("line", {
		class: `mark ${name}`, x1: plotX(at, octaves), x2: plotX(at, octaves), y1: 0, y2: PLOT.base,
	}));
	const whole = PLOT.width + 2 * PLOT.left;
	return html("figure", {},
		html("figcaption", {}, html("b", {}, label), ` mean ${formatCycles(mean(h))}, p50 ${formatCount(p50)}, p99 ${formatCount(p99)} cycles`),
		svg("svg", {
			class: "plot", role: "img", viewBox: `0 0 ${whole} ${PLOT.height}`,
			"aria-label": `Histogram of ${label}: ${formatCount(h.count)} samples, median ${p50}, 99th percentile ${p99} cycles`,
		}, ...plotBars(h, octaves), svg("line", { class: "axis", x1: 0, x2: whole, y1: PLOT.base, y2: PLOT.base }), ...marks, ...plotAxis(octaves)));
}

function drawHistograms(state, histograms) {
	const mark = state.modelled ? "~" : "";
	const shown = [["total latency", histograms.total], ["issue latency", histograms.issue], ["translation latency", histograms.translation]]
		.filter(([, h]) => h.count);
	byId("histograms").replaceChildren(
		html("h3", {}, `${mark}Latency`),
		...shown.map(([label, h]) => drawHistogram(label, h)),
		html("p", { class: "quiet" }, shown.length
			? "Number of samples by cycles; lines mark p50 and p99." + (state.data.late
				? " Issue and translation latency are known to a factor of 2."
				: state.data.counted ? "" : " Issue and translation latency are left out, as the report has very many rows.")
			: state.data.sumsOnly ? SUMS_ONLY : "No sample has a latency."));
}

/** Draw everything about the selection. */
export function drawSelection(state) {
	const histograms = nodeHistograms(state.data, state.tree, state.node);
	byId("what-title").textContent = state.node.parent ? `Selected ${state.node.level}` : "All samples";
	byId("what-path").replaceChildren(...nodePath(state.node).slice(1).flatMap((node, i) => [i ? " › " : null, nameText(node.name)]).filter(Boolean));
	drawNumbers(state, histograms);
	drawLevels(state, histograms);
	drawHistograms(state, histograms);
}
