// SPDX-License-Identifier: LGPL-2.1-or-later
// The script of the page that speprof-exporter serves: load rows of the daemon, and show them as the HTML file does.
import { byId, setOptions } from "./dom.js";
import { Page } from "./page.js";
import { reportFromRows } from "./query-rows.js";

const PERIODS = [["start", "since the start"], ["10s", "last 10 s"], ["1m", "last minute"], ["10m", "last 10 minutes"]];
const DETAILS = [["function", "functions"], ["line", "lines"]];
const UPDATES = [["0", "by the button"], ["10", "every 10 s"], ["60", "every minute"]];

/*
 * Return the token. The URL of "speprof page" has it in its fragment, which a browser does not send. It is
 * removed from the address bar, and stored until the tab is closed, so that the page can be loaded again.
 */
function takeToken() {
	let token = /^#token=([A-Za-z0-9._~+/=-]+)$/.exec(location.hash)?.[1] ?? null;
	try {
		if (token)
			sessionStorage.setItem("token", token);
		token ??= sessionStorage.getItem("token");
	} catch {
		/* The browser forbids to store data: then the fragment stays where it is. */
		return token;
	}
	if (location.hash.startsWith("#token="))
		history.replaceState(null, "", location.pathname);
	return token;
}

/** An answer without rows. The text of the exception is one sentence for the reader. */
class Refusal extends Error {}

/* Return why the exporter refused a request, as a sentence. */
async function refusal(response, token) {
	if (response.status === 401)
		return new Refusal(`${token ? "The token was refused" : "This page needs a token"}. Run \u201csudo speprof page\u201d on the machine, and open the URL that it prints.`);
	const text = (await response.text()).trim();
	return new Refusal(text ? text + (text.endsWith(".") ? "" : ".") : `The exporter answered with status ${response.status}.`);
}

async function load(path, token) {
	let response;
	try {
		response = await fetch(path, { headers: token ? { Authorization: `Bearer ${token}` } : {}, cache: "no-store", redirect: "error" });
	} catch {
		throw new Refusal("The exporter cannot be reached: it was stopped, or the connection to its machine was lost.");
	}
	if (!response.ok)
		throw await refusal(response, token);
	try {
		return await response.json();
	} catch {
		throw new Refusal("The answer of the exporter is incomplete.");
	}
}

/** Loads rows again and again, and shows the last ones. */
class Live {
	constructor() {
		this.token = takeToken();
		this.page = null;
		this.names = null;
		this.shown = null;
		this.pending = this.again = false;
		this.timer = 0;
		this.choose("period", PERIODS, () => this.update());
		this.choose("detail", DETAILS, () => this.update());
		this.choose("every", UPDATES, () => this.wait());
		byId("refresh").addEventListener("click", () => this.update());
		window.addEventListener("hashchange", () => {
			this.token = takeToken();
			this.update();
		});
	}

	choose(id, options, change) {
		setOptions(byId(id), options.map(([value, label]) => ({ value, label })), options[0][0]);
		byId(id).addEventListener("change", change);
	}

	/* Load the next rows after the time that the reader has chosen. */
	wait() {
		const seconds = Number(byId("every").value);
		clearTimeout(this.timer);
		if (seconds)
			this.timer = setTimeout(() => this.update(), 1000 * seconds);
	}

	/** Load rows. While a request is pending, remember only that another one is wanted. */
	async update() {
		this.again = this.pending;
		if (this.pending)
			return;
		clearTimeout(this.timer);
		this.pending = true;
		byId("status").textContent = "Waiting for the daemon \u2026";
		byId("live").setAttribute("aria-busy", "true");
		try {
			this.show(await this.rows());
		} catch (error) {
			this.fail(error instanceof Refusal ? error.message : `These rows cannot be shown: ${error.message}.`);
		}
		byId("live").setAttribute("aria-busy", "false");
		this.pending = false;
		if (this.again)
			this.update();
		else
			this.wait();
	}

	async rows() {
		const [period, detail] = ["period", "detail"].map(id => byId(id).value);
		this.names ??= await load("names.json", null);
		const report = await load(`query?period=${period}&rows=${detail}`, this.token);
		const name = `daemon, session machine, ${PERIODS.find(([value]) => value === period)[1]}`;
		return reportFromRows({ ...this.names, live: true, format: 2, name, select: {}, memory: null, report });
	}

	show(data) {
		const pending = data.meta.header.totals.names_pending;
		if (!data.count)
			throw new Refusal("The daemon has no samples of this period.");
		byId("main").hidden = false;
		if (this.page)
			this.page.show(data);
		else
			this.page = new Page(data);
		/* The exporter has neither times nor the right to read addresses. */
		for (const id of ["when", "memory"])
			byId(id).hidden = true;
		this.shown = new Date();
		byId("failure").hidden = true;
		byId("status").textContent = `Rows of ${this.shown.toLocaleTimeString()}.${pending ? " The daemon is still reading symbols, so names are missing." : ""}`;
	}

	/* Report a failure. The last rows stay, with their time. */
	fail(text) {
		byId("failure").textContent = text;
		byId("failure").hidden = false;
		byId("status").textContent = this.shown ? `Not updated: the rows below are those of ${this.shown.toLocaleTimeString()}.` : "No rows were loaded.";
	}
}

await new Live().update();
