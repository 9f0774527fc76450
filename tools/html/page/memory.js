// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared cache lines, hot pages, NUMA nodes and the sets of pages of containers, if the recording has addresses.
import { byId, html, nameText, svg } from "./dom.js";
import { formatCount, formatCycles, formatPercent } from "./format.js";

function place(entry) {
	return [entry.container, entry.process, entry.function].filter(name => name && name !== "-").join(" › ");
}

/* Return the field and type of the data that @sharer accesses; "-" if they are unknown. */
function datumText(sharer) {
	return [sharer.field, sharer.type].filter(name => name).join(" of ") || "-";
}

/* The name of the file and the line; the title has the path. */
function sharerSource(sharer) {
	return sharer.source ? nameText(sharer.source.slice(sharer.source.lastIndexOf("/") + 1), { title: sharer.source }) : "-";
}

/* A ruler of the @bytes of a line, with a mark where one CPU accesses it. */
function ruler(sharer, most, bytes) {
	const radius = 1.5 + 2.5 * Math.sqrt(sharer.samples / most);
	return svg("svg", { class: "ruler", role: "img", viewBox: "0 0 128 12", "aria-label": `offset ${sharer.offset} of ${bytes}` },
		...[0, 16, 32, 48, 64].map(at => svg("line", { x1: at * 2, x2: at * 2, y1: 2, y2: 10 })),
		svg("line", { x1: 0, x2: 128, y1: 6, y2: 6 }),
		svg("circle", { class: sharer.stores ? "store" : "load", cx: Math.min(126, Math.max(2, (sharer.offset * 2 + 1) * 64 / bytes)), cy: 6, r: radius }));
}

function lineCard(line, bytes, open) {
	const most = Math.max(...line.sharers.map(sharer => sharer.samples), 1);
	const span = `bytes 0 to ${bytes - 1}`, kind = `${line.sharing} sharing${line.suspected ? "?" : ""}`;
	return html("details", { class: "line", open },
		html("summary", {}, html("code", {}, line.address), ` ${kind}, ${formatCount(line.cpus)} CPUs, ` +
			`${formatCount(line.loads)} loads, ${formatCount(line.stores)} stores, mean ${formatCycles(line.samples ? line.latency_sum / line.samples : null)} cycles`),
		line.advice ? html("p", {}, nameText(line.advice)) : null,
		html("div", { class: "scroll", role: "region", "aria-label": `CPUs of line ${line.address}`, tabindex: "0" }, html("table", {},
			html("thead", {}, html("tr", {}, ...["CPU", "offset", span, "samples", "stores", "data", "function", "source"].map(text =>
				html("th", { scope: "col", class: ["data", "function", "source", span].includes(text) ? "text" : null }, text)))),
			html("tbody", {}, ...line.sharers.map(sharer => html("tr", {},
				html("th", { scope: "row" }, formatCount(sharer.cpu)), html("td", {}, `+${sharer.offset}`), html("td", {}, ruler(sharer, most, bytes)),
				html("td", {}, formatCount(sharer.samples)), html("td", {}, formatCount(sharer.stores)),
				html("td", { class: "text" }, nameText(datumText(sharer))), html("td", { class: "text" }, nameText(place(sharer))),
				html("td", { class: "text" }, sharerSource(sharer))))))));
}

function nodeName(node) {
	return node === undefined ? "?" : String(node);
}

function matrixCell(traffic, most) {
	if (!traffic)
		return html("td", { class: "none" }, "-");
	const step = Math.min(6, Math.floor(7 * traffic.samples / (most + 1)));
	return html("td", { class: `cool${step}` }, formatCount(traffic.samples), html("small", {},
		` ${formatCycles(traffic.samples ? traffic.latency_sum / traffic.samples : null)} cycles`));
}

function nodeMatrix(nodes, mark) {
	const froms = [...new Set(nodes.map(each => nodeName(each.cpu_node)))];
	const tos = [...new Set(nodes.map(each => nodeName(each.memory_node)))].sort();
	const most = Math.max(...nodes.map(each => each.samples));
	return html("div", { class: "card" }, html("h3", {}, `${mark}NUMA nodes`),
		html("table", { class: "matrix" },
			html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "CPUs of node"), ...tos.map(to => html("th", { scope: "col" }, `memory ${to}`)))),
			html("tbody", {}, ...froms.map(from => html("tr", {}, html("th", { scope: "row" }, from), ...tos.map(to =>
				matrixCell(nodes.find(each => nodeName(each.cpu_node) === from && nodeName(each.memory_node) === to), most)))))),
		html("p", { class: "quiet" }, "Samples that missed the first level cache, and their mean latency. “?” is a node that the recording does not name."));
}

function pageTable(pages, mark) {
	return html("div", { class: "card" }, html("h3", {}, `${mark}Hot pages`),
		html("div", { class: "scroll", role: "region", "aria-label": "Hot pages", tabindex: "0" }, html("table", {},
			html("thead", {}, html("tr", {}, ...["address", "node", "samples", "DRAM", "from other nodes", "mean", "function"].map(text =>
				html("th", { scope: "col", class: text === "function" ? "text" : null }, text)))),
			html("tbody", {}, ...pages.map(page => html("tr", {},
				html("th", { scope: "row" }, html("code", {}, page.address)), html("td", {}, nodeName(page.node)), html("td", {}, formatCount(page.samples)),
				html("td", {}, formatPercent(page.dram, page.samples)), html("td", {}, formatCount(page.other_node)),
				html("td", {}, formatCycles(page.samples ? page.latency_sum / page.samples : null)),
				html("td", { class: "text" }, nameText(place(page)))))))));
}

const SHOWN = 20;
const SETS = [
	["hot", "accesses", "Hot: the fewest pages with 80 % of a container's accesses"],
	["cold", "accesses", "Cold: the pages with fewest samples, 1 % of a container's accesses together"],
	["misplaced", "cycles", "Misplaced: pages that CPUs of another node use most; cycles: latency of these accesses"],
	["huge_candidates", "cycles", "Candidates for huge pages of 2 MiB; cycles: translation latency"],
];

function nodeChange(range) {
	return range.to_node === undefined ? "" : `${range.node ?? "?"} → ${range.to_node ?? "?"}`;
}

/* The heaviest ranges of one set of all containers. */
function setDetails(containers, [key, weight, title]) {
	const rows = containers.flatMap(container => container[key].ranges.map(range => ({ container: container.container, ...range })));
	const number = weight === "accesses" ? "accesses" : "samples";
	const pages = containers.reduce((sum, container) => sum + container[key].pages, 0);
	rows.sort((a, b) => b[weight] - a[weight]);
	const body = html("tbody", {}, ...rows.slice(0, SHOWN).map(range => html("tr", {},
		html("th", { scope: "row", class: "text" }, nameText(place({ ...range, process: `${range.process} (${range.pid})` }))),
		html("td", {}, html("code", {}, `${range.start}-${range.end}`)), html("td", {}, formatCount(range.pages)),
		html("td", {}, formatCount(range[number])), html("td", {}, formatCount(range.cycles)), html("td", {}, nodeChange(range)))));
	const head = html("thead", {}, html("tr", {}, ...["process", "range", "pages", number, "cycles", "node"].map(text =>
		html("th", { scope: "col", class: text === "process" ? "text" : null }, text))));
	return html("details", { class: "line set" }, html("summary", {}, `${title}: ${formatCount(pages)} pages`),
		rows.length ? html("div", { class: "scroll", role: "region", "aria-label": title, tabindex: "0" }, html("table", {}, head, body))
			: html("p", { class: "quiet" }, "None."));
}

function pageSets(containers, mark) {
	const columns = [["samples", each => each.samples], ["pages", each => each.pages], ["hot", each => each.hot.pages],
		["cold", each => each.cold.pages], ["misplaced", each => each.misplaced.pages], ["remote cycles", each => each.misplaced.cycles],
		["huge pages", each => each.huge_candidates.ranges_found], ["translation cycles", each => each.huge_candidates.cycles]];
	return html("div", { class: "card", id: "page-sets" }, html("h3", {}, `${mark}Pages of containers`),
		html("div", { class: "scroll", role: "region", "aria-label": "Pages of containers", tabindex: "0" }, html("table", {},
			html("thead", {}, html("tr", {}, html("th", { scope: "col", class: "text" }, "container"),
				...columns.map(([name]) => html("th", { scope: "col" }, name)))),
			html("tbody", {}, ...containers.map(each => html("tr", {}, html("th", { scope: "row", class: "text" }, nameText(each.container)),
				...columns.map(([, value]) => html("td", {}, formatCount(value(each))))))))),
		...SETS.map(set => setDetails(containers, set)),
		html("p", { class: "quiet" }, "Pages of 4 KiB with samples, by virtual address. A page without a sample is not listed, but may be in use."));
}

/** Draw the section, or a sentence that explains how to record addresses. */
export function drawMemory(data, modelled) {
	if (!data.meta.memory) {
		byId("memory-body").replaceChildren(html("p", { class: "quiet" },
			"This profile has no addresses. A recording has them, and the whole profile of a session, for readers with the right to read addresses."));
		return;
	}
	const { lines, pages, nodes, containers, line_size: bytes } = data.meta.memory;
	const mark = modelled ? "~" : "";
	const parts = [];
	if (lines.length)
		parts.push(html("div", { class: "card" }, html("h3", {}, `${mark}Shared cache lines`),
			html("p", { class: "quiet" }, "False sharing: each CPU has bytes of its own in the line. “?”: no sample shows that another core's cache had it. A filled mark stores, a hollow one only loads."),
			...lines.slice(0, SHOWN).map((line, i) => lineCard(line, bytes, i < 2))));
	if (nodes.length)
		parts.push(nodeMatrix(nodes, mark));
	if (pages.length)
		parts.push(pageTable(pages.slice(0, SHOWN), mark));
	if (containers?.length)
		parts.push(pageSets(containers, mark));
	if (!lines.length)
		parts.push(html("p", { class: "quiet" }, "No cache line is used by several threads, as far as the samples show."));
	if (!pages.length)
		parts.push(html("p", { class: "quiet" }, "No record has a physical address, so physical pages and nodes are unknown. Record with --physical-addresses to collect them."));
	byId("memory-body").replaceChildren(...parts);
}
