// SPDX-License-Identifier: LGPL-2.1-or-later
// The instructions of the functions of --annotate, with their source lines.
import { byId, html, nameText, pathText } from "./dom.js";
import { formatCount, formatCycles, formatPercent } from "./format.js";
import { levelLabel } from "./levels.js";
import { sortItems } from "./search.js";
import { headCell } from "./table.js";

/* Number of rows that a table has before the reader asks for all: more would slow down the page. */
const CODE_SHOWN = 500;

/** Return the levels that served the accesses of an instruction, the most frequent first. */
export function levelsText(line) {
	return Object.entries(line.levels ?? {}).sort((a, b) => b[1] - a[1])
		.map(([name, count]) => `${levelLabel(name)} ${(100 * count / line.memory).toFixed(0)} %`).join(", ");
}

/** Return the targets of a branch with their samples, the most frequent first. */
export function targetsText(line) {
	const targets = (line.targets ?? []).map(target =>
		`${[target.function ?? target.offset, target.binary].filter(Boolean).join(" in ")}: ${formatCount(target.samples)}`);
	return [...targets, ...(line.other_targets ? [`others: ${formatCount(line.other_targets)}`] : [])].join(", ");
}

function sourceText(line) {
	return line.line ? `${line.file.slice(line.file.lastIndexOf("/") + 1)}:${line.line}  ${line.source ?? ""}`.trim() : "";
}

/*
 * The columns: @value to sort by, @text to show, null or "" for nothing. @name: text on the left. Those with
 * @only are left out if no instruction has a text.
 */
const CODE_COLUMNS = [
	{ key: "offset", label: "offset", value: line => Number(line.offset), text: line => line.offset },
	{ key: "share", label: "share", value: line => line.share ?? null, text: line => (line.samples ? formatPercent(line.share, 1) : "") },
	{ key: "samples", label: "samples", value: line => line.samples, text: line => (line.samples ? formatCount(line.samples) : "") },
	{ key: "mean", label: "mean", modelled: true, value: line => line.mean ?? null, text: line => formatCycles(line.mean ?? null) },
	{ key: "p99", label: "p99", modelled: true, value: line => line.p99 ?? null, text: line => (line.p99 === null || line.p99 === undefined ? "-" : formatCount(line.p99)) },
	{ key: "levels", label: "levels", modelled: true, name: true, only: true, value: levelsText, text: levelsText },
	{
		key: "mispredicted", label: "mispredicted", modelled: true, only: true,
		value: line => (line.branches ? line.mispredicted / line.branches : null),
		text: line => (line.branches ? formatPercent(line.mispredicted, line.branches) : ""),
	},
	{ key: "instruction", label: "instruction", name: true, value: line => line.instruction ?? "", text: line => line.instruction ?? "not known" },
	{ key: "targets", label: "branch targets", name: true, only: true, value: targetsText, text: targetsText },
	{ key: "source", label: "source", name: true, only: true, value: line => (line.line ? `${line.file}:${String(line.line).padStart(9, "0")}` : null), text: sourceText },
];

/** Return the columns of a table of instructions. */
export function codeColumns(lines) {
	return CODE_COLUMNS.filter(column => !column.only || lines.some(line => column.text(line)));
}

function codeRow(columns, line, most) {
	return html("tr", {}, ...columns.map(column => {
		if (column.key === "instruction")
			return html("th", { scope: "row" }, html("code", {}, nameText(column.text(line))));
		if (column.name)
			return html("td", { class: "text", "data-key": column.key }, nameText(column.text(line)));
		const heat = column.key === "share" && line.samples ? `warm${Math.min(6, Math.floor(7 * line.samples / (most + 1)))}` : null;
		return html("td", { "data-key": column.key, class: heat }, column.text(line));
	}));
}

/* Fill the table of one function in the order that the reader has chosen. */
function fillTable(view) {
	const { table, columns, lines } = view;
	const column = columns.find(each => each.key === view.sort);
	const sorted = sortItems(lines, column, view.descending);
	const shown = view.all ? sorted : sorted.slice(0, CODE_SHOWN);
	const most = lines.reduce((largest, line) => Math.max(largest, line.samples), 0);
	table.replaceChildren(
		html("thead", {}, html("tr", {}, ...columns.map(each => headCell(view, each, chosen => {
			view.descending = view.sort === chosen.key ? !view.descending : !chosen.name && chosen.key !== "offset";
			view.sort = chosen.key;
			fillTable(view);
			table.querySelector(`button[data-key="${chosen.key}"]`).focus();
		})))),
		html("tbody", {}, ...shown.map(line => codeRow(columns, line, most))));
	view.count.textContent = `${formatCount(shown.length)} of ${formatCount(lines.length)} instructions shown`;
	view.more.hidden = shown.length === lines.length;
}

function functionCard(code, modelled) {
	const name = code.function ?? "function without a name";
	const view = {
		lines: code.instructions, columns: codeColumns(code.instructions), sort: "offset", descending: false, by: "instruction", modelled,
		table: html("table", {}), count: html("p", { class: "quiet", role: "status" }),
		more: html("button", { type: "button", onclick: () => {
			view.all = true;
			fillTable(view);
		} }, "Show all instructions"),
	};
	fillTable(view);
	return html("div", { class: "card" },
		html("h3", {}, nameText(name), " in ", pathText(code.binary)),
		html("p", { class: "quiet" }, code.build_id ? `build id ${code.build_id}` : "without a build id",
			code.reason ? html("span", {}, ". Instructions are not shown: ", nameText(code.reason)) : null),
		html("div", { class: "scroll", role: "region", "aria-label": `Instructions of ${name}`, tabindex: "0" }, view.table),
		view.count, html("p", { class: "more" }, view.more));
}

/** Draw the section. A page without --annotate does not have it. */
export function drawCode(data, modelled) {
	const code = data.meta.code ?? [];
	byId("code").hidden = !code.length;
	byId("code-body").replaceChildren(...code.flatMap(each => each.functions.map(one => functionCard(one, modelled))));
}
