// SPDX-License-Identifier: LGPL-2.1-or-later
// What the page shows of a report: its state, and what happens when the reader changes it.
import { drawCode } from "./code.js";
import { drawComparisonHeading, drawComparisonSelection } from "./comparison.js";
import { byId, html, nameText, setOptions } from "./dom.js";
import { formatCount, formatPercent } from "./format.js";
import { drawGuide, drawHeading } from "./heading.js";
import { Icicle, colourText, drawCrumbs, drawLegend } from "./icicle.js";
import { colourMeasures, widthMeasures } from "./measures.js";
import { drawMemory } from "./memory.js";
import { matchSums } from "./search.js";
import { drawSelection } from "./selection.js";
import { drawTable } from "./table.js";
import { buildTree, findNode, nodePath, nodeSum } from "./tree.js";

/** Draws a report, and draws it again when the reader changes what it shows. @timeline: draws the section "When". */
export class Page {
	constructor(data, timeline) {
		this.icicle = new Icicle({ select: node => this.select(node), hint: node => this.hint(node) });
		this.timeline = timeline;
		this.listen();
		this.show(data);
	}

	/** Show a report. What the reader had chosen stays chosen, if the new report has it, too. */
	show(data) {
		const before = this.state;
		const tree = buildTree(data);
		const widths = widthMeasures({ ...data, tree });
		const colours = colourMeasures(data);
		const chosen = (list, measure) => list.find(each => each.key === measure?.key) ?? list[0];
		const node = before ? findNode(tree, before.node) : tree.root;
		this.state = {
			data, tree, widths, colours, node,
			modelled: data.meta.header.modelled,
			width: chosen(widths, before?.width),
			colour: chosen(colours, before?.colour),
			matches: matchSums(tree, byId("find").value),
			by: tree.levels.indexOf(before?.by) > 0 ? before.by : tree.levels.at(-1),
			sort: before?.sort ?? "share",
			descending: before?.descending ?? true,
			pages: before?.pages ?? 1,
		};
		if (data.diff) {
			drawComparisonHeading(data);
		} else {
			drawHeading(data);
			drawMemory(data, this.state.modelled);
			drawCode(data, this.state.modelled);
		}
		this.drawControls();
		this.draw();
	}

	drawControls() {
		const { state } = this;
		const mark = state.modelled ? "~" : "";
		setOptions(byId("width"), state.widths.map(each => ({ value: each.key, label: (each.modelled ? mark : "") + each.label })), state.width.key);
		setOptions(byId("colour"), state.colours.map(each => ({ value: each.key, label: mark + each.label })), state.colour.key);
		setOptions(byId("by"), state.tree.levels.slice(1).map(level => ({ value: level, label: level })), state.by);
		byId("found").textContent = state.matches ? this.foundText() : "";
	}

	listen() {
		const change = (id, apply) => byId(id).addEventListener("change", event => {
			apply(event.target.value);
			this.draw();
		});
		change("width", key => { this.state.width = this.state.widths.find(each => each.key === key); });
		change("colour", key => { this.state.colour = this.state.colours.find(each => each.key === key); });
		change("by", level => Object.assign(this.state, { by: level, pages: 1 }));
		byId("find").addEventListener("input", event => this.find(event.target.value));
		byId("more").addEventListener("click", () => {
			this.state.pages++;
			this.drawTable();
		});
	}

	draw() {
		const { state } = this;
		this.icicle.draw(state);
		drawCrumbs(state, node => this.select(node));
		drawLegend(state.colour, state.modelled ? "~" : "");
		drawGuide(state);
		if (state.data.diff) {
			drawComparisonSelection(state);
		} else {
			drawSelection(state);
			this.timeline.draw(state);
		}
		this.drawTable();
		this.hint(null);
	}

	drawTable() {
		drawTable(this.state, {
			select: node => {
				this.select(node);
				byId("where").scrollIntoView({ block: "start" });
			},
			resort: column => this.resort(column),
		});
	}

	select(node) {
		const { state } = this;
		state.node = node;
		state.pages = 1;
		const depth = state.tree.levels.indexOf(state.by);
		if (depth < node.depth)
			state.by = node.level;
		byId("by").value = state.by;
		this.draw();
	}

	resort(column) {
		const { state } = this;
		state.descending = state.sort === column.key ? !state.descending : !column.name;
		state.sort = column.key;
		this.drawTable();
		byId("table").querySelector(`button[data-key="${column.key}"]`).focus();
	}

	find(query) {
		const { state } = this;
		state.matches = matchSums(state.tree, query);
		state.pages = 1;
		this.icicle.draw(state);
		this.drawTable();
		byId("found").textContent = state.matches ? this.foundText() : "";
	}

	foundText() {
		const { tree, matches, width } = this.state;
		const count = matches.at(-1);
		if (!count)
			return "nothing found";
		const sums = tree.sums[width.key];
		let part = 0;
		for (let i = 0; i < tree.order.length; i++)
			if (matches[i + 1] > matches[i])
				part += sums[i + 1] - sums[i];
		return `${formatCount(count)} found, ${formatPercent(part, sums.at(-1))}`;
	}

	hint(node) {
		const { tree, width, colour } = this.state;
		if (!node) {
			byId("hint").replaceChildren(html("span", { class: "quiet" }, "Point at a box or move to it by arrow keys to see its numbers; click it or press Enter to zoom in, Escape to zoom out."));
			return;
		}
		const names = nodePath(node).slice(1).flatMap((each, i) => [i ? " › " : "", nameText(each.name)]);
		const share = formatPercent(nodeSum(tree, node, width.key), nodeSum(tree, tree.root, width.key));
		byId("hint").replaceChildren(html("b", {}, ...(names.length ? names : ["all samples"])),
			` ${share} of ${width.of}, ${formatCount(nodeSum(tree, node, "samples"))} samples, ${colourText(tree, node, colour)}`);
	}
}
