// SPDX-License-Identifier: LGPL-2.1-or-later
// The heading: what was recorded, its ledgers, and how to read the page.
import { byId, html, nameText } from "./dom.js";
import { formatBytes, formatCount, formatPercent, formatSeconds, formatShort } from "./format.js";

const ORIGINS = {
	emulated: ["emulated", "EMULATED SPU", "Process, location and time are real. Numbers marked ~ are modelled: they show how speprof works, not how this machine performs."],
	hardware: ["hardware", "Hardware SPE", "The CPUs measured these operations with the Statistical Profiling Extension."],
	unknown: ["unknown", "Unknown SPU", "The profile does not say whether hardware or an emulated SPU wrote its samples."],
};

const UNKNOWN = "not known";

/**
 * Return the ledgers as { label, text, note, bad }. A ledger that the recording does not have is "not
 * known", and never 0.
 */
export function ledgerItems(header) {
	const { totals } = header;
	const weighted = header.share_of !== "samples";
	const whole = weighted ? totals.weight[header.share_of] : totals.records;
	const part = key => formatPercent(weighted ? totals[`${key}_weight`] : totals[key], whole);
	const known = (value, text) => (value === null ? UNKNOWN : text(value));
	const lost = totals.lost_bytes;
	/* A saved profile and the history have counters, and not the ledger of their bytes. */
	const counted = header.source === "saved" || header.source === "history";
	const items = [
		{ label: "samples", text: formatCount(totals.records), note: weighted ? `stand for ${formatShort(whole)} ${header.share_of.replace("_", "-")}` : "" },
		{ label: "duration", text: known(header.duration_ns, formatSeconds), note: "first to last window" },
		{ label: "lost", text: known(lost, formatBytes), note: "bytes of records", bad: lost > 0 },
		{ label: "suspect", text: counted ? UNKNOWN : formatBytes(totals.suspect_bytes), note: "bytes that are no record", bad: totals.suspect_bytes > 0 },
		{ label: "blind", text: known(header.blind_ns, ns => formatPercent(ns, header.enabled_ns)), note: "of the time enabled" },
		{ label: "unattributed", text: part("unattributed"), note: "without a known task" },
	];
	if (totals.evicted)
		items.push({ label: "evicted", text: part("evicted"), note: "from full tables" });
	if (header.cpus_held)
		items.push({ label: "interval", text: `up to ${(header.interval_longest_ns / 1e6).toFixed(2)} ms`, note: `${formatCount(header.cpus_held)} CPUs sample less often` });
	if (totals.filtered)
		items.push({ label: "filtered", text: formatCount(totals.filtered), note: "samples left out" });
	if (totals.truncated_windows || totals.windows_with_gaps)
		items.push({ label: "cut windows", text: formatCount(totals.truncated_windows + totals.windows_with_gaps), note: "records are missing", bad: true });
	return items;
}

/** Draw heading and footer. */
export function drawHeading(data) {
	const { meta } = data;
	const [kind, title, text] = ORIGINS[meta.header.backend] ?? ORIGINS.unknown;
	const name = meta.name ?? "standard input";
	document.title = `${name} - speprof`;
	byId("name").replaceChildren(nameText(name));
	byId("origin").replaceChildren(html("strong", { class: `badge ${kind}` }, title), ` ${text}`);
	const selected = Object.entries(meta.select).filter(([, text]) => text !== null);
	if (selected.length)
		byId("origin").append(" Only samples of ", ...selected.flatMap(([key, text], i) => [i ? ", " : "", `${key} `, nameText(text)]),
			"; ledgers and memory are those of the whole profile.");
	byId("ledgers").replaceChildren(...ledgerItems(meta.header).map(item =>
		html("div", { class: item.bad ? "bad" : item.text === UNKNOWN ? "unknown" : null }, html("dt", {}, item.label), html("dd", {}, item.text), html("dd", { class: "note" }, item.note))));
	byId("bottom").replaceChildren(meta.live
		? `Served by speprof-exporter ${meta.version}. This page loads its rows from there, and nothing from elsewhere.`
		: `Written by speprof ${meta.version}. This file contains all of its data and loads nothing.`);
}

/** Draw the two sentences that explain the picture. */
export function drawGuide(state) {
	const { width, colour } = state;
	const warning = width.key === "latency_sum" ? "Latencies overlap, so their sum is not time." : "That is no share of time: slow operations take longer.";
	byId("guide").textContent = `Each box is as wide as its share of ${width.of}, and its colour shows its ${colour.label}. ${warning}`;
}
