// SPDX-License-Identifier: LGPL-2.1-or-later
// The page: its state, and what happens when the reader changes it.
import { drawComparisonHeading, drawComparisonSelection } from "./comparison.js";
import { inflate, parseReport } from "./data.js";
import { byId, html, nameText, setOptions } from "./dom.js";
import { formatCount, formatPercent } from "./format.js";
import { drawGuide, drawHeading } from "./heading.js";
import { Icicle, colourText, drawCrumbs, drawLegend } from "./icicle.js";
import { colourMeasures, widthMeasures } from "./measures.js";
import { drawMemory } from "./memory.js";
import { matchSums } from "./search.js";
import { drawSelection } from "./selection.js";
import { drawTable } from "./table.js";
import { Timeline } from "./timeline.js";
import { buildTree, nodePath, nodeSum } from "./tree.js";

class Page {
	constructor(data) {
		const tree = buildTree(data);
		const widths = widthMeasures({ ...data, tree });
		const colours = colourMeasures(data);
		this.state = {
			data, tree, widths, colours,
			modelled: data.meta.header.modelled,
			node: tree.root,
			width: widths[0],
			colour: colours[0],
			matches: null,
			by: tree.levels.at(-1),
			sort: "share",
			descending: true,
			pages: 1,
		};
		this.icicle = new Icicle({ select: node => this.select(node), hint: node => this.hint(node) });
		this.timeline = new Timeline();
		if (data.diff) {
			drawComparisonHeading(data);
		} else {
			drawHeading(data);
			drawMemory(data, this.state.modelled);
		}
		this.controls();
		this.draw();
	}

	controls() {
		const { state } = this;
		const mark = state.modelled ? "~" : "";
		setOptions(byId("width"), state.widths.map(each => ({ value: each.key, label: (each.modelled ? mark : "") + each.label })), state.width.key);
		setOptions(byId("colour"), state.colours.map(each => ({ value: each.key, label: mark + each.label })), state.colour.key);
		setOptions(byId("by"), state.tree.levels.slice(1).map(level => ({ value: level, label: level })), state.by);
		const change = (id, apply) => byId(id).addEventListener("change", event => {
			apply(event.target.value);
			this.draw();
		});
		change("width", key => { state.width = state.widths.find(each => each.key === key); });
		change("colour", key => { state.colour = state.colours.find(each => each.key === key); });
		change("by", level => Object.assign(state, { by: level, pages: 1 }));
		byId("find").addEventListener("input", event => this.find(event.target.value));
		byId("more").addEventListener("click", () => {
			state.pages++;
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

async function start() {
	try {
		const data = parseReport(await inflate(byId("data").textContent));
		byId("data").remove();
		if (!data.count)
			throw new Error("it has no samples");
		byId("main").hidden = false;
		new Page(data);
	} catch (error) {
		byId("main").hidden = true;
		byId("failure").textContent = `This report cannot be shown: ${error.message}.`;
		byId("failure").hidden = false;
	}
}

await start();
