// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of rows: the same numbers as the icicle, to sort and to search.
import { comparisonColumns } from "./comparison.js";
import { byId, html, nameText, pathText } from "./dom.js";
import { formatCount, formatCycles, formatPercent } from "./format.js";
import { nodePath, nodeQuantile, nodesOfLevel, nodeSum } from "./tree.js";
import { matchCount, sortItems } from "./search.js";

const PAGE = 40;

function nameColumns(state) {
	const depth = state.tree.levels.indexOf(state.by);
	return state.tree.levels.slice(1, depth + 1).map(level => ({
		key: level,
		label: level,
		name: true,
		value: node => nodePath(node)[state.tree.levels.indexOf(level)].name,
	}));
}

function countColumn(state, key, label, modelled = true) {
	const value = node => nodeSum(state.tree, node, key);
	return { key, label, modelled, value, text: node => formatCount(value(node)) };
}

function ratioColumn(state, key, label, part, whole, text) {
	const value = node => {
		const all = nodeSum(state.tree, node, whole);
		return all ? nodeSum(state.tree, node, part) / all : null;
	};
	return { key, label, modelled: true, value, text: node => text(value(node)) };
}

function percentileColumn(state, key, permille) {
	const value = node => nodeQuantile(state.data, state.tree, node, permille);
	return { key, label: key, modelled: true, value, text: node => (value(node) === null ? "-" : formatCount(value(node))) };
}

/** Return the columns of the table of a state: { key, label, value(node), text(node) }. */
export function tableColumns(state) {
	const { tree, widths, width } = state;
	if (state.data.diff)
		return comparisonColumns(tree, nameColumns(state));
	const share = {
		key: "share",
		label: `share of ${width.label}`,
		modelled: width.modelled,
		value: node => nodeSum(tree, node, width.key),
		text: node => formatPercent(nodeSum(tree, node, width.key), nodeSum(tree, tree.root, width.key)),
	};
	const detailed = columns => (state.data.sumsOnly ? [] : columns);
	const percent = value => (value === null ? "-" : `${(100 * value).toFixed(1)} %`);
	return [
		share,
		...nameColumns(state),
		countColumn(state, "samples", "samples", false),
		...(widths[0].key === "weight" ? [countColumn(state, "weight", "operations", false)] : []),
		countColumn(state, "latency_sum", "latency sum"),
		ratioColumn(state, "mean", "mean", "latency_sum", "timed", formatCycles),
		...detailed([percentileColumn(state, "p50", 500), percentileColumn(state, "p99", 990)]),
		ratioColumn(state, "dram", "DRAM", "dram", "memory", percent),
		...(state.data.sumsOnly ? [countColumn(state, "memory", "loads and stores")] : [countColumn(state, "loads", "loads"), countColumn(state, "stores", "stores")]),
		ratioColumn(state, "remote", "remote", "remote", "memory", percent),
		...detailed([ratioColumn(state, "snooped", "snooped", "snooped", "memory", percent)]),
		countColumn(state, "branches", "branches"),
		ratioColumn(state, "mispredicted", "mispredicted", "mispredicted", "branches", percent),
	];
}

/** Return the nodes that the table shows, sorted. */
export function tableItems(state, columns) {
	const nodes = nodesOfLevel(state.node, state.by).filter(node => matchCount(state.matches, node));
	const column = columns.find(each => each.key === state.sort) ?? columns[0];
	return sortItems(nodes, column, state.descending);
}

/** Make the heading of a column. @state has sort and by, keys of columns, descending and modelled; resort(column) is called by its button. */
export function headCell(state, column, resort) {
	const sorted = column.key === state.sort;
	const arrow = sorted ? (state.descending ? " ▾" : " ▴") : "";
	const kind = column.name ? (column.key === state.by ? "text by" : "text") : null;
	return html("th", { scope: "col", class: kind, "aria-sort": sorted ? (state.descending ? "descending" : "ascending") : null },
		html("button", { type: "button", "data-key": column.key, onclick: () => resort(column) },
			`${column.modelled && state.modelled ? "~" : ""}${column.label}`, html("span", { "aria-hidden": "true" }, arrow)));
}

function bodyRow(state, columns, node, select) {
	return html("tr", {}, ...columns.map(column => {
		if (!column.name)
			return html("td", { "data-key": column.key }, column.text(node));
		const name = (column.key === "binary" ? pathText : nameText)(column.value(node));
		if (column.key === state.by)
			return html("th", { scope: "row" }, html("button", { type: "button", onclick: () => select(node) }, name));
		return html("td", { class: "text" }, name);
	}));
}

/** Draw the table; @actions has resort(column), select(node). */
export function drawTable(state, actions) {
	const columns = tableColumns(state);
	const items = tableItems(state, columns);
	const shown = items.slice(0, state.pages * PAGE);
	byId("table").replaceChildren(
		html("thead", {}, html("tr", {}, ...columns.map(column => headCell(state, column, actions.resort)))),
		html("tbody", {}, ...shown.map(node => bodyRow(state, columns, node, actions.select))));
	byId("shown").textContent = `${formatCount(shown.length)} of ${formatCount(items.length)} shown`;
	byId("more").hidden = shown.length === items.length;
}
