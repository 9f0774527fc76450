// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the boxes of the icicle are.
import { nodeSum, sortedChildren } from "./tree.js";

/* Narrower boxes, in pixels, cannot be hit: one box stands for all of them. */
const LEAST = 3;

function layoutChildren(tree, node, box, depth, key, boxes) {
	const scale = box.width / nodeSum(tree, node, key);
	let x = box.x;
	let hidden = 0;
	let hiddenWidth = 0;
	for (const child of sortedChildren(tree, node, key)) {
		const width = nodeSum(tree, child, key) * scale;
		if (width < LEAST) {
			hidden++;
			hiddenWidth += width;
			continue;
		}
		const next = { node: child, x, width, depth };
		boxes.push(next);
		layoutChildren(tree, child, next, depth + 1, key, boxes);
		x += width;
	}
	if (hiddenWidth >= 1)
		boxes.push({ node: null, rest: hidden, parent: node, x, width: hiddenWidth, depth });
}

/**
 * Return the boxes of @node and of what is below it, as { node, x, width, depth }. @width is the
 * width of all in pixels. A box without a node stands for @rest children of @parent that are too
 * small.
 */
export function layoutBoxes(tree, node, key, width) {
	const box = { node, x: 0, width, depth: 0 };
	const boxes = [box];
	if (nodeSum(tree, node, key) > 0)
		layoutChildren(tree, node, box, 1, key, boxes);
	return boxes;
}
