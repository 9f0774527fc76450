// SPDX-License-Identifier: LGPL-2.1-or-later
// The script of the page that speprof-exporter serves: load rows of the daemon, and show them as the HTML file does.
import { byId, setOptions } from "./dom.js";
import { Page } from "./page.js";
import { exactGlob, reportFromRows } from "./query-rows.js";
import { Trend } from "./trend.js";

const PERIODS = [["start", "since the start"], ["10s", "last 10 s"], ["1m", "last minute"], ["10m", "last 10 minutes"],
	["1h", "last hour"], ["1d", "last day"]];
/* Periods of the history, which only the session machine has; the length in microseconds and the number of steps of their timelines. */
const STEPS = new Map([["1h", [60e6, 60]], ["1d", [1200e6, 72]]]);
/* The history has a new period each minute, so a timeline is not loaded again before, unless the reader changes it. */
const TREND_MS = 60e3;
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

/* Return the options for sessions: machine, which always exists, and then the others by name. */
function sessionOptions(sessions) {
	const others = sessions.filter(({ name }) => name !== "machine").sort((a, b) => (a.name < b.name ? -1 : 1));
	return [...sessions.filter(({ name }) => name === "machine"), ...others]
		.map(({ name, state }) => [name, state === "running" ? name : `${name} (${state})`]);
}

/* Return the query of a URL, of the parameters that have a value. */
function urlQuery(parameters) {
	return new URLSearchParams(Object.entries(parameters).filter(([, value]) => value));
}

/** Loads rows again and again, and shows the last ones. */
class Live {
	constructor() {
		this.token = takeToken();
		this.trend = new Trend();
		this.offered = new Map();
		this.page = null;
		this.names = null;
		this.shown = null;
		this.trendOf = null;
		this.trendTime = 0;
		this.pending = this.again = false;
		this.timer = 0;
		this.choose("session", [["machine", "machine"]], () => this.changeSession());
		this.choose("period", PERIODS, () => this.update());
		this.choose("container", [["", "all"]], () => this.update());
		this.choose("detail", DETAILS, () => this.update());
		this.choose("every", UPDATES, () => this.wait());
		byId("refresh").addEventListener("click", () => this.update());
		window.addEventListener("hashchange", () => {
			this.token = takeToken();
			this.update();
		});
	}

	choose(id, options, change) {
		this.offer(id, options);
		byId(id).addEventListener("change", change);
	}

	/*
	 * Change the options of a <select>. What the reader had chosen stays chosen, if it is still there. Equal options are
	 * not made again, because that would close a list that the reader has opened.
	 */
	offer(id, options) {
		const text = JSON.stringify(options);
		if (this.offered.get(id) === text)
			return;
		this.offered.set(id, text);
		const chosen = options.find(([value]) => value === byId(id).value) ?? options[0];
		setOptions(byId(id), options.map(([value, label]) => ({ value, label })), chosen[0]);
	}

	changeSession() {
		const machine = byId("session").value === "machine";
		this.offer("period", PERIODS.filter(([period]) => machine || !STEPS.has(period)));
		this.offer("container", [["", "all"]]);
		this.update();
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
			await this.loadTrend();
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

	/* Load what the exporter knows about the daemon, one request after the other: few may wait at a time. */
	async rows() {
		this.names ??= await load("names.json", null);
		const { host, sessions } = await load("sessions", this.token);
		this.offer("session", sessionOptions(sessions));
		const [session, period, container, rows] = ["session", "period", "container", "detail"].map(id => byId(id).value);
		const report = await load(`query?${urlQuery({ session, period, container: exactGlob(container), rows })}`, this.token);
		const name = `${host}: session ${session}, ${PERIODS.find(([value]) => value === period)[1]}`;
		return reportFromRows({ ...this.names, live: true, format: 2, name, select: { container: container || null }, memory: null, report });
	}

	show(data) {
		const pending = data.meta.header.totals.names_pending;
		if (!data.count)
			throw new Refusal("The daemon has no samples of this period.");
		byId("main").hidden = false;
		if (this.page)
			this.page.show(data);
		else
			this.page = new Page(data, this.trend);
		this.offerContainers(data.meta);
		/* The exporter has no right to read addresses. */
		byId("memory").hidden = true;
		this.shown = new Date();
		byId("failure").hidden = true;
		byId("status").textContent = `Rows of ${this.shown.toLocaleTimeString()}.${pending ? " The daemon is still reading symbols, so names are missing." : ""}`;
	}

	/* Offer the containers of rows of all containers. Names in brackets are sums over several ones. */
	offerContainers({ select, strings }) {
		if (!select.container)
			this.offer("container", [["", "all"], ...strings.container.filter(name => !name.startsWith("["))
				.map(name => [name, name === "-" ? "no container" : name]).sort()]);
	}

	/* Load the timeline of the chosen container: of the last day with that period, else of the last hour. */
	async loadTrend() {
		const [session, chosen, container] = ["session", "period", "container"].map(id => byId(id).value);
		const period = chosen === "1d" ? "1d" : "1h";
		const of = container ? (container === "-" ? "samples in no container" : `container ${container}`) : "all samples";
		const wanted = JSON.stringify([session, period, container]);
		if (wanted === this.trendOf && Date.now() - this.trendTime < TREND_MS)
			return;
		this.trendOf = wanted;
		this.trendTime = Date.now();
		if (session !== "machine") {
			this.trend.clear("Only the session machine has a history.");
			return;
		}
		try {
			this.trend.load(await load(`timeline?${urlQuery({ period, container: exactGlob(container) })}`, this.token), ...STEPS.get(period), of);
		} catch (error) {
			this.trend.clear(`There is no timeline: ${error.message}`);
		}
	}

	/* Report a failure. The last rows stay, with their time. */
	fail(text) {
		byId("failure").textContent = text;
		byId("failure").hidden = false;
		byId("status").textContent = this.shown ? `Not updated: the rows below are those of ${this.shown.toLocaleTimeString()}.` : "No rows were loaded.";
	}
}

await new Live().update();
