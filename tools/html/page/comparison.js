// SPDX-License-Identifier: LGPL-2.1-or-later
// What the page shows of a comparison: measures, colours, columns, heading and selection.
import { byId, html, nameText } from "./dom.js";
import { formatCount, formatCycles, formatPercent } from "./format.js";
import { nodePath, nodeSum } from "./tree.js";

/** Measures that a box of a comparison can be as wide as. */
export const DIFF_WIDTHS = [
	{ key: "operations_after", label: "operations after", of: "operations after the change" },
	{ key: "operations_before", label: "operations before", of: "operations before the change" },
	{ key: "latency_sum_after", label: "latency sum after", of: "cycles of latency after the change", modelled: true },
	{ key: "latency_sum_before", label: "latency sum before", of: "cycles of latency before the change", modelled: true },
];

/* Return the quotient of two sums of a side; null if the side has nothing to divide by. */
function ratio(tree, node, part, whole, side) {
	const all = nodeSum(tree, node, `${whole}_${side}`);
	return all ? nodeSum(tree, node, `${part}_${side}`) / all : null;
}

/* Return the share of a side of all operations of that side. */
function share(tree, node, side) {
	const all = nodeSum(tree, tree.root, `operations_${side}`);
	return all ? nodeSum(tree, node, `operations_${side}`) / all : null;
}

function difference(before, after) {
	return before === null || after === null ? null : after - before;
}

function signed(text, value) {
	return value > 0 ? `+${text}` : text;
}

function signedPoints(value) {
	return value === null ? "-" : `${signed((100 * value).toFixed(1), value)} %`;
}

function signedCycles(value) {
	return value === null ? "-" : signed(Math.abs(value) < 100 ? value.toFixed(1) : (value < 0 ? "-" : "") + formatCount(Math.abs(value)), value);
}

/** The measures of each row: values of both sides, and how to print these and their difference. */
const MEASURES = [
	{ key: "share", label: "share of operations", value: share, text: value => formatPercent(value ?? 0, 1), change: signedPoints },
	{
		key: "mean", label: "mean latency", modelled: true, text: formatCycles, change: signedCycles,
		value: (tree, node, side) => ratio(tree, node, "latency_sum", "latency_samples", side),
	},
	...["dram", "remote"].map(key => ({
		key, label: key === "dram" ? "DRAM" : "another chip", modelled: true, change: signedPoints,
		text: value => (value === null ? "-" : formatPercent(value, 1)),
		value: (tree, node, side) => ratio(tree, node, key, "memory", side),
	})),
];

function change(measure, tree, node) {
	return difference(measure.value(tree, node, "before"), measure.value(tree, node, "after"));
}

/* A colour of the change of a measure. @steps: least value of each step; the middle one means about equal. */
function changeColour(key, label, unit, steps, value) {
	return {
		key, label, unit, ramp: "change", steps: [-Infinity, ...steps], value,
		text: number => `${signed(number.toFixed(1), number)} ${unit}`,
	};
}

const [SHARE, MEAN, DRAM] = MEASURES;

/** Colours of a comparison. */
export const DIFF_COLOURS = [
	changeColour("latency", "change of the mean latency", "%", [-50, -20, -5, 5, 20, 50], (tree, node) => {
		const before = MEAN.value(tree, node, "before");
		const changed = change(MEAN, tree, node);
		return before && changed !== null ? 100 * changed / before : null;
	}),
	...[["share", "change of the share of operations", SHARE, [-5, -1, -0.2, 0.2, 1, 5]], ["dram", "change of the DRAM share", DRAM, [-10, -5, -1, 1, 5, 10]]]
		.map(([key, label, measure, steps]) => changeColour(key, label, "% points", steps, (tree, node) => {
			const changed = change(measure, tree, node);
			return changed === null ? null : 100 * changed;
		})),
];

/* Return how much a node contributes to the change of the mean latency of all samples, in cycles. */
function contribution(tree, node) {
	const part = side => nodeSum(tree, node, `latency_sum_${side}`) / (nodeSum(tree, tree.root, `latency_samples_${side}`) || 1);
	return part("after") - part("before");
}

/** Return the columns of the table of a comparison around the columns of names. */
export function comparisonColumns(tree, names) {
	const column = (key, label, modelled, value, text) => ({ key, label, modelled, value, text: node => text(value(node)) });
	return [
		{
			key: "share", label: "part of the change, cycles", modelled: true, value: node => Math.abs(contribution(tree, node)),
			text: node => signedCycles(contribution(tree, node)),
		},
		...names,
		column("marks", "beyond chance", false, node => nodeSum(tree, node, "marks"), formatCount),
		...MEASURES.flatMap(measure => [
			...["before", "after"].map(side => column(`${measure.key}-${side}`, `${measure.label} ${side}`, measure.modelled, node => measure.value(tree, node, side), measure.text)),
			column(`${measure.key}-change`, "change", measure.modelled, node => change(measure, tree, node), measure.change),
		]),
		...["before", "after"].map(side => column(`samples-${side}`, `samples ${side}`, false, node => nodeSum(tree, node, `samples_${side}`), formatCount)),
	];
}

function sideItem(name, side) {
	return html("div", {}, html("dt", {}, `${name}: samples`), html("dd", {}, formatCount(side.samples)),
		html("dd", { class: "note" }, "effectively ", formatCount(side.effective_samples), " of ", nameText(side.profile)));
}

/** Draw heading and footer of a comparison. */
export function drawComparisonHeading(data) {
	const { before, after, words, tests, rows, rows_total: total, false_alarm_rate: rate } = data.diff;
	const marked = rows.filter(row => Object.values(row.exceeds_chance).some(Boolean)).length;
	document.title = "Comparison - speprof";
	byId("name").replaceChildren(nameText(before.profile), " → ", nameText(after.profile));
	byId("origin").replaceChildren(...(data.meta.header.modelled
		? [html("strong", { class: "badge emulated" }, "EMULATED SPU"), " Numbers marked ~ are modelled: they show how speprof works, not how this machine performs."]
		: []));
	byId("ledgers").replaceChildren(sideItem("before", before), sideItem("after", after),
		html("div", {}, html("dt", {}, "rows beyond chance"), html("dd", {}, formatCount(marked)),
			html("dd", { class: "note" }, `by ${formatCount(tests)} tests; at most ${Math.round(100 * rate)} % of the marked differences are expected to be false`)),
		html("div", {}, html("dt", {}, "rows"), html("dd", {}, formatCount(rows.length)), html("dd", { class: "note" }, `of ${formatCount(total)}; the most changed`)));
	byId("words").replaceChildren(...words.map(line => html("li", {}, html("bdi", {}, line))));
	byId("words").hidden = !words.length;
	for (const id of ["when", "memory", "levels", "histograms"])
		byId(id).hidden = true;
	byId("numbers").parentElement.classList.add("single");
	byId("bottom").replaceChildren(`Written by speprof ${data.meta.version}. This file contains all of its data and loads nothing.`);
}

const MEASURE_NAMES = { share: "share", mean: "mean latency", p99: "p99", dram: "DRAM share", remote: "share of another chip" };

/* Return which differences of a node exceed chance, in words. */
function marksText(data, tree, node) {
	const rows = Array.from(tree.order.subarray(node.first, node.end), row => data.diff.rows[row]);
	if (rows.length > 1)
		return `${formatCount(rows.filter(row => Object.values(row.exceeds_chance).some(Boolean)).length)} of ${formatCount(rows.length)} rows have a difference that exceeds chance.`;
	const marked = Object.entries(rows[0].exceeds_chance).filter(([, exceeds]) => exceeds).map(([key]) => MEASURE_NAMES[key]);
	return marked.length ? `The difference of ${marked.join(", ")} exceeds chance.` : "No difference of this row exceeds chance.";
}

/** Draw the numbers of the selection of a comparison. */
export function drawComparisonSelection(state) {
	const { data, tree, node } = state;
	const mark = modelled => (modelled && state.modelled ? "~" : "");
	const counts = [["samples", "samples"], ["operations", "operations"]].map(([key, label]) => {
		const [before, after] = ["before", "after"].map(side => nodeSum(tree, node, `${key}_${side}`));
		return [label, formatCount(before), formatCount(after), "", key];
	});
	const measures = MEASURES.map(measure => [mark(measure.modelled) + measure.label,
		...["before", "after"].map(side => measure.text(measure.value(tree, node, side))), measure.change(change(measure, tree, node)), measure.key]);
	byId("what-title").textContent = node.parent ? `Selected ${node.level}` : "All rows";
	byId("what-path").replaceChildren(...nodePath(node).slice(1).flatMap((each, i) => [i ? " › " : "", nameText(each.name)]));
	byId("numbers").replaceChildren(
		html("h3", {}, "Numbers"),
		html("div", { class: "scroll", role: "region", "aria-label": "Numbers", tabindex: "0" }, html("table", {}, html("thead", {}, html("tr", {}, ...["measure", "before", "after", "change"].map(text => html("th", { scope: "col", class: text === "measure" ? "text" : null }, text)))),
			html("tbody", {}, ...[...measures, ...counts].map(([label, before, after, changed, key]) => html("tr", { "data-key": key },
				html("th", { scope: "row" }, label), ...[before, after, changed].map(text => html("td", {}, text))))))),
		html("p", { class: "quiet" }, marksText(data, tree, node)));
}
