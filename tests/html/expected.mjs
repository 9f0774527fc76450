// SPDX-License-Identifier: LGPL-2.1-or-later
// What the page should show, computed from JSON.

/** A number with commas between thousands. */
export const count = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/** A share in percent. */
export const percent = (part, whole) => (whole ? `${(100 * part / whole).toFixed(1)} %` : "-");

/** What the page shows for a row of "report -j". */
export function expected(row, header) {
	const whole = header.totals.weight[header.share_of];
	return {
		weight: count(row.weight[header.share_of]),
		samples: count(row.samples),
		latency_sum: count(row.latency_sum),
		p50: count(row.p50),
		p99: count(row.p99),
		loads: count(row.loads),
		stores: count(row.stores),
		branches: count(row.branches),
		share: percent(row.weight[header.share_of], whole),
		dram: percent(row.dram, row.memory),
		remote: percent(row.remote, row.memory),
		snooped: percent(row.snooped, row.memory),
		mispredicted: percent(row.mispredicted, row.branches),
	};
}
