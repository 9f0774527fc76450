// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers over time as bars in the section "When", with a cursor, a hint below it and a table of the same numbers.
import { byId, html, svg } from "./dom.js";

/** Height of the axis of a plot, in pixels. */
export const AXIS = 22;

/**
 * A plot of slices of time. A class that extends it has paint(), which draws the plot; row(), which returns the
 * numbers of a slice as texts; describe(), which makes a sentence of these; and @help, the hint without a slice.
 */
export class TimePlot {
	constructor() {
		this.element = byId("timeline");
		this.count = 0;
		new ResizeObserver(() => this.count && this.paint()).observe(this.element);
		this.element.addEventListener("pointermove", event => this.point(event));
		this.element.addEventListener("pointerleave", () => this.hint(null));
	}

	/** Set the width of the plot from that of the page. */
	measure() {
		this.width = Math.max(this.element.clientWidth, 200);
		this.left = this.width < 600 ? 44 : 76;
		this.plot = this.width - this.left;
	}

	/** Return the horizontal position of a slice's start. */
	x(slice) {
		return this.left + slice / this.count * this.plot;
	}

	label(y, text) {
		return svg("text", { class: "tick", x: 0, y }, text);
	}

	ground(top, height) {
		return svg("rect", { class: "ground", x: this.left, y: top, width: this.plot, height });
	}

	/** Return bars of @shares, 0 to 1, in a strip of @height pixels. @gap: between two bars; @least: height of the lowest bar. */
	bars(top, height, shares, kind, gap = 0, least = 1) {
		return shares.flatMap((share, i) => (share > 0 ? [svg("rect", {
			class: kind, x: this.x(i), width: Math.max(this.plot / this.count - gap, 0.6),
			y: top + height - Math.max(least, share * height), height: Math.max(least, share * height),
		})] : []));
	}

	/** Return the tick of an axis. @at: 0 to 1. */
	tick(top, at, text) {
		return svg("text", {
			class: "tick", x: this.left + at * this.plot, y: top + 12, "text-anchor": at === 0 ? "start" : at > 0.97 ? "end" : "middle",
		}, text);
	}

	/** Show a plot of @height pixels without its axis. */
	show(height, label, parts) {
		this.cursor = svg("rect", { class: "cursor", y: 0, height, width: this.plot / this.count, visibility: "hidden" });
		this.element.replaceChildren(svg("svg", {
			role: "img", width: this.width, height: height + AXIS, viewBox: `0 0 ${this.width} ${height + AXIS}`, "aria-label": label,
		}, ...parts.flat(), this.cursor));
		this.hint(null);
	}

	point(event) {
		const x = event.clientX - this.element.getBoundingClientRect().left;
		const slice = Math.floor((x - this.left) / this.plot * this.count);
		this.hint(slice >= 0 && slice < this.count ? slice : null);
	}

	hint(slice) {
		if (!this.count)
			return;
		this.cursor.setAttribute("visibility", slice === null ? "hidden" : "visible");
		if (slice !== null)
			this.cursor.setAttribute("x", this.x(slice));
		byId("when-hint").textContent = slice === null ? this.help : this.describe(this.row(slice));
	}

	/** Fill the table. */
	drawTable(headings) {
		byId("when-table").hidden = false;
		byId("slices").replaceChildren(
			html("thead", {}, html("tr", {}, ...headings.map(text => html("th", { scope: "col" }, text)))),
			html("tbody", {}, ...Array.from({ length: this.count }, (_, i) => {
				const [from, ...cells] = this.row(i);
				return html("tr", {}, html("th", { scope: "row" }, from), ...cells.map(text => html("td", {}, text)));
			})));
	}

	/** Show nothing but a note. */
	clear(note) {
		this.count = 0;
		this.element.replaceChildren();
		byId("when-hint").textContent = "";
		byId("when-table").hidden = true;
		byId("when-note").textContent = note;
	}
}
