// SPDX-License-Identifier: LGPL-2.1-or-later
// The script of the HTML file: show the data that the file contains.
import { inflate, parseReport } from "./data.js";
import { byId } from "./dom.js";
import { Page } from "./page.js";
import { Timeline } from "./timeline.js";

async function start() {
	try {
		const data = parseReport(await inflate(byId("data").textContent));
		byId("data").remove();
		if (!data.count)
			throw new Error("it has no samples");
		byId("main").hidden = false;
		new Page(data, new Timeline());
	} catch (error) {
		byId("main").hidden = true;
		byId("failure").textContent = `This report cannot be shown: ${error.message}.`;
		byId("failure").hidden = false;
	}
}

await start();
