// SPDX-License-Identifier: LGPL-2.1-or-later
// Find nodes by name, and sort them.
import { prefixSums } from "./data.js";

/** Return the number of matching rows before each position of @tree.order; null: no search. */
export function matchSums(tree, query) {
	const text = query.trim().toLowerCase();
	if (!text)
		return null;
	const matching = new Uint8Array(tree.order.length);
	for (const node of tree.nodes)
		if (node.parent && !matching[node.first] && node.name.toLowerCase().includes(text))
			matching.fill(1, node.first, node.end);
	return prefixSums(matching);
}

/** Return how many rows of @node match; all without a search. */
export function matchCount(sums, node) {
	return sums ? sums[node.end] - sums[node.first] : node.end - node.first;
}

/** Return @items in the order of @column; values that are null come last. */
export function sortItems(items, column, descending) {
	const sign = descending ? -1 : 1;
	const keyed = items.map((item, i) => ({ item, i, key: column.value(item) }));
	keyed.sort((a, b) => {
		if (a.key === null || b.key === null)
			return (a.key === null) - (b.key === null) || a.i - b.i;
		if (a.key === b.key)
			return a.i - b.i;
		return (a.key < b.key ? -1 : 1) * sign;
	});
	return keyed.map(each => each.item);
}
