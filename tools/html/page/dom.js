// SPDX-License-Identifier: LGPL-2.1-or-later
// Make elements. Text becomes text nodes only: no name of a recording is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
	for (const [key, value] of Object.entries(properties)) {
		if (value === null || value === undefined || value === false)
			continue;
		if (key.startsWith("on"))
			element.addEventListener(key.slice(2), value);
		else
			element.setAttribute(key, value === true ? "" : value);
	}
	element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
	return element;
}

/**
 * Make an element. @properties: attributes, and listeners such as onclick. Strings in @children
 * become text nodes.
 */
export function html(name, properties = {}, ...children) {
	return fill(document.createElement(name), properties, children);
}

/** Make an SVG element; the parameters are those of html(). */
export function svg(name, properties = {}, ...children) {
	return fill(document.createElementNS(SVG, name), properties, children);
}

/** Make an element with a name of the recording, which may be written from right to left. */
export function nameText(text, properties = {}) {
	return html("bdi", { title: text, ...properties }, text);
}

/** Make an element with a path. If there is no room, its folder is shortened, and not the name of its file. */
export function pathText(path) {
	const file = Math.max(path.lastIndexOf("/"), 0);
	return html("bdi", { title: path, class: "file-path" }, html("span", {}, path.slice(0, file)), html("span", {}, path.slice(file)));
}

/** Return the element with an id of shell.html. */
export function byId(id) {
	return document.getElementById(id);
}

/** Make the options of a <select>. */
export function setOptions(select, options, chosen) {
	select.replaceChildren(...options.map(({ value, label }) => html("option", { value, selected: value === chosen }, label)));
}
