// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of levels, as daemon/profile/cell-level.c computes it.
import { bucketUpper, mean, mergeHistogram, newHistogram, quantile } from "./histogram.js";

const LABELS = {
	unknown: "not known",
	l1: "L1",
	l2: "L2",
	l3: "L3",
	system_cache: "system cache",
	peer_core: "peer core",
	local_cluster: "local cluster",
	peer_cluster: "peer cluster",
	local_chip: "local chip",
	remote_cache: "remote cache",
	dram: "DRAM",
	device: "device",
	recent: "recently fetched",
	llc: "last level cache",
	beyond_l1: "beyond L1",
	beyond_l2: "beyond L2",
	beyond_llc: "beyond last level",
};

/** Return the name of a level as the page shows it. */
export function levelLabel(name) {
	return LABELS[name] ?? name;
}

function highestBucket(h) {
	return bucketUpper(h.bucket.findLastIndex(n => n > 0));
}

/**
 * Return one row for each level that served anything, from the first level cache outwards. What
 * missed the last level cache is a part of DRAM.
 */
export function levelTable(data, levels) {
	const dram = { count: 0, latency: newHistogram() };
	const accesses = Object.values(levels).reduce((sum, level) => sum + level.count, 0);
	for (const name of data.dramLevels) {
		if (!levels[name])
			continue;
		dram.count += levels[name].count;
		mergeHistogram(dram.latency, levels[name].latency);
	}
	const names = [...data.names.slice(1, data.names.indexOf("other")), "unknown"];
	return names.flatMap(name => {
		const level = name === "dram" ? dram : data.dramLevels.includes(name) ? null : levels[name];
		if (!level?.count)
			return [];
		const latency = { ...level.latency, max: level.latency.count ? highestBucket(level.latency) : 0 };
		const timed = latency.count > 0;
		return [{
			name,
			count: level.count,
			share: level.count / accesses,
			mean: mean(latency),
			p50: timed ? quantile(latency, 500) : null,
			p99: timed ? quantile(latency, 990) : null,
		}];
	});
}
