// SPDX-License-Identifier: LGPL-2.1-or-later
// The icicle: a box for each node below the selection, as wide as its share.
import { byId, html, nameText } from "./dom.js";
import { formatCycles, formatPercent } from "./format.js";
import { layoutBoxes } from "./layout.js";
import { colourStep, colourValue, legendLabels } from "./measures.js";
import { matchCount } from "./search.js";
import { findNode, nodePath, nodeSum } from "./tree.js";

const ROW = 46;

/** Return the last component of a node's name if that is a path, else the whole name. */
export function baseName(node) {
	const path = node.level === "binary" || node.level === "line";
	return path && node.name.startsWith("/") ? node.name.slice(node.name.lastIndexOf("/") + 1) : node.name;
}

/** Return the colour's value in words, such as "mean latency 45.1 cycles". */
export function colourText(tree, node, colour) {
	const value = colourValue(tree, node, colour);
	if (value === null)
		return `no ${colour.label}`;
	if (colour.text)
		return `${colour.label} ${colour.text(value)}`;
	return colour.unit === "%" ? `${colour.label} ${value.toFixed(1)} %` : `${colour.label} ${formatCycles(value)} cycles`;
}

function shortValue(tree, node, colour) {
	const value = colourValue(tree, node, colour);
	if (value === null)
		return "";
	if (colour.text)
		return ` · ${colour.text(value)}`;
	return colour.unit === "%" ? ` · ${value.toFixed(0)} % DRAM` : ` · ${formatCycles(value)} cycles`;
}

/** Draws the icicle of a state, and moves the focus in it. */
export class Icicle {
	constructor(actions) {
		this.actions = actions;
		this.element = byId("icicle");
		this.items = new Map();
		this.boxes = [];
		this.focused = null;
		this.element.addEventListener("keydown", event => this.key(event));
		this.element.addEventListener("pointerleave", () => this.actions.hint(null));
		new ResizeObserver(() => this.state && this.draw(this.state)).observe(this.element);
	}

	/** Draw @state: { data, tree, node, width, colour, matches }. */
	draw(state) {
		const { tree, node, width } = state;
		const hadFocus = this.state?.tree !== tree && this.element.contains(document.activeElement);
		if (this.state && this.state.tree !== tree)
			this.forget(tree);
		this.state = state;
		this.boxes = layoutBoxes(tree, node, width.key, this.element.clientWidth);
		const kept = new Set(this.boxes.filter(box => box.node).map(box => box.node.id));
		for (const [id, item] of this.items) {
			if (kept.has(id))
				continue;
			item.remove();
			this.items.delete(id);
		}
		this.element.querySelectorAll(".rest").forEach(rest => rest.remove());
		if (!this.focused || !kept.has(this.focused.id))
			this.focused = node;
		for (const box of this.boxes)
			this.place(box.node ? this.item(box.node) : this.rest(box), box);
		const rows = tree.levels.length - node.depth;
		this.element.style.height = `${rows * ROW}px`;
		byId("gutter").replaceChildren(...tree.levels.slice(node.depth).map(level => html("span", {}, level)));
		if (hadFocus)
			this.items.get(this.focused.id).focus();
	}

	/* Remove the boxes of a tree that @tree replaces. The node of the same name becomes the focused one. */
	forget(tree) {
		this.element.replaceChildren();
		this.items.clear();
		this.focused = this.focused && findNode(tree, this.focused);
	}

	place(element, { x, width, depth }) {
		element.style.left = `${x}px`;
		element.style.width = `${Math.max(width - 1, 1)}px`;
		element.style.top = `${depth * ROW}px`;
		element.classList.toggle("narrow", width < 46);
		element.classList.toggle("short", width < 140);
	}

	rest(box) {
		const rest = html("div", { class: "rest", "aria-hidden": "true" });
		this.element.append(rest);
		return rest;
	}

	item(node) {
		const { tree, node: selected, width, colour, matches } = this.state;
		let item = this.items.get(node.id);
		if (!item) {
			item = html("div", {
				role: "treeitem",
				onclick: () => this.actions.select(node),
				onpointerenter: () => this.actions.hint(node),
				onfocus: () => this.focusOn(node),
			}, html("span", { class: "name" }, html("bdi", {}, baseName(node))), " ", html("span", { class: "value" }, html("span"), html("span", { class: "more-text" })));
			this.items.set(node.id, item);
			this.element.append(item);
		}
		const share = formatPercent(nodeSum(tree, node, width.key), nodeSum(tree, tree.root, width.key));
		const step = colourStep(colour, colourValue(tree, node, colour));
		item.className = `box ${step === null ? "none" : `${colour.ramp}${step}`}`;
		item.classList.toggle("miss", matches !== null && !matchCount(matches, node));
		item.setAttribute("aria-level", node.depth - selected.depth + 1);
		item.setAttribute("aria-selected", node === selected);
		/*
		 * A label begins with the visible text, which users of speech control speak to
		 * select the box.
		 */
		item.setAttribute("aria-label", `${baseName(node)} ${share}${shortValue(tree, node, colour)}, ${node.level} ${node.name}`);
		item.tabIndex = node === this.focused ? 0 : -1;
		item.lastChild.firstChild.textContent = share;
		item.lastChild.lastChild.textContent = shortValue(tree, node, colour);
		return item;
	}

	focusOn(node) {
		const before = this.focused && this.items.get(this.focused.id);
		if (before)
			before.tabIndex = -1;
		this.focused = node;
		this.items.get(node.id).tabIndex = 0;
		this.actions.hint(node);
	}

	/* The boxes of the row of @node, from left to right. */
	rowOf(node) {
		const { depth } = this.boxes.find(box => box.node === node);
		return this.boxes.filter(box => box.node && box.depth === depth).map(box => box.node);
	}

	target(key) {
		const node = this.focused;
		const row = this.rowOf(node);
		const at = row.indexOf(node);
		switch (key) {
		case "ArrowLeft": return row[at - 1];
		case "ArrowRight": return row[at + 1];
		case "Home": return row[0];
		case "End": return row.at(-1);
		case "ArrowUp": return node === this.state.node ? null : node.parent;
		case "ArrowDown": return this.boxes.find(box => box.node?.parent === node)?.node;
		default: return null;
		}
	}

	key(event) {
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === "Enter" || event.key === " ") {
			this.actions.select(this.focused);
		} else if (event.key === "Escape" || event.key === "Backspace") {
			this.actions.select(this.state.node.parent ?? this.state.node);
		} else {
			const target = this.target(event.key);
			if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key))
				return;
			if (target)
				this.items.get(target.id).focus();
			event.preventDefault();
			return;
		}
		event.preventDefault();
		this.items.get(this.focused.id).focus();
	}
}

/** Draw the path from all samples to the selection. */
export function drawCrumbs(state, select) {
	const path = nodePath(state.node);
	byId("crumbs").replaceChildren(...path.map((node, i) => html("li", {},
		i === path.length - 1
			? html("span", { "aria-current": "true" }, nameText(baseName(node), { title: node.name }))
			: html("button", { type: "button", onclick: () => select(node) }, nameText(baseName(node), { title: node.name })))));
}

/** Draw the legend of a colour. */
export function drawLegend(colour, mark) {
	const labels = legendLabels(colour);
	byId("legend").replaceChildren(
		html("span", { class: "legend-title" }, `${mark}${colour.label} (${colour.unit})`),
		html("ol", {}, ...labels.map((label, step) => html("li", {}, html("i", { class: `${colour.ramp}${step}` }), label)),
			html("li", {}, html("i", { class: "none" }), "none")));
}
