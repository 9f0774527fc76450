// SPDX-License-Identifier: LGPL-2.1-or-later
// Open the page of a running exporter in Chromium, use it as a reader does, and compare what it shows with
// "report -j" of the same daemon.
//
// usage: node live.mjs NODE_MODULES CHROMIUM FOLDER URL TOKEN
// FOLDER has live.json: "report -j" by container, program, binary and function. It receives pictures. Prints
// PASS and FAIL lines. A line "@WORD" on standard output requests an action, after which the caller writes an empty
// line to standard input: pause, resume, kill and start the daemon, or stop-exporter. Exits with 1 if anything failed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Chromium, SIZES, tableRows } from "./chromium.mjs";
import { count, expected } from "./expected.mjs";

const [modules, chromium, folder, url, token] = process.argv.slice(2);
const report = JSON.parse(readFileSync(join(folder, "live.json"), "utf8"));
const LEVELS = ["container", "program", "binary", "function"];

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
/* A request to another server is a failure, but a message of the browser about a refused request is not. */
const tests = await Chromium.start({
	modules, chromium, prefix: "html-live", permits: each => each.startsWith(`${url}/page/`),
	ignores: message => /^Failed to load resource/.test(message),
});
const check = (name, fn) => tests.check(name, fn);
const withPage = (address, fn, options) => tests.withPage(address, idle, fn, options);
/* Run @fn with the page when it has rows. */
const withRows = (fn, options) => withPage(opened, async (page, trouble) => {
	await updateUntil(page, () => page.locator("#main").isVisible());
	await fn(page, trouble);
}, options);

async function request(word) {
	console.log(`@${word}`);
	await answers.next();
}

const idle = page => page.waitForSelector('#live[aria-busy="false"]');
const text = (page, selector) => page.locator(selector).textContent();

/* Each update begins with this request. */
const begun = each => each.url().endsWith("/page/sessions");

/* Load new rows, and wait until the page has shown them or the reason why there are none. */
async function update(page) {
	const answer = page.waitForEvent("requestfinished", begun).catch(() => {});
	await page.locator("#refresh").click();
	await answer;
	await idle(page);
}

/* Load new rows until @done; a slow machine may give other answers before. */
async function updateUntil(page, done) {
	while (!await done())
		await update(page);
}

/*
 * A percentile in the highest bucket is at most the highest latency. The page knows that of a level only if the p99 of
 * the level is in this bucket, and shows the end of the bucket otherwise.
 */
function sameBucket(row, key, shown) {
	const ends = Object.keys(row.latency_counts ?? {}).map(Number).sort((a, b) => a - b);
	return ["p50", "p99"].includes(key) && count(ends.find(end => end >= row[key])) === shown;
}

const opened = `${url}/page/#token=${token}`;

await check("token", async () => {
	await withPage(`${url}/page/`, async page => {
		assert.match(await text(page, "#failure"), /^This page needs a token\. Run \u201csudo speprof page\u201d/);
		assert.ok(await page.locator("#main").isHidden());
		assert.equal(await text(page, "#status"), "No rows were loaded.");
	});
	await withPage(`${url}/page/#token=not-the-token-of-the-page`, async page => {
		assert.match(await text(page, "#failure"), /^The token was refused\. Run/);
		/* The reader pastes the right URL into the same tab, which does not load the page again. */
		await page.evaluate(hash => { location.hash = hash; }, `token=${token}`);
		await page.waitForSelector("#main:not([hidden])");
		await idle(page);
		assert.ok(await page.locator("#failure").isHidden());
		assert.equal(page.url(), `${url}/page/`);
		await page.reload();
		await page.waitForSelector("#main:not([hidden])");
	});
});

await check("rows", () => withPage(opened, async page => {
	assert.equal(page.url(), `${url}/page/`);
	const shown = await tableRows(page);
	const shownName = (level, name) => (level === "container" && name === "-" ? "no container" : name || `no ${level}`);
	const wanted = new Map();
	for (const row of report.rows) {
		const names = LEVELS.map(level => shownName(level, row[level])).join("\n");
		wanted.set(names, [...wanted.get(names) ?? [], row]);
	}
	assert.ok(shown.length);
	assert.equal(await text(page, "#shown"), `${count(shown.length)} of ${count(wanted.size)} shown`);
	for (const { names: parts, numbers } of shown) {
		const names = parts.join("\n");
		const rows = wanted.get(names);
		assert.ok(rows, `the report has no row ${names}`);
		/* Executables of the same name in several folders have rows with equal names; the page adds these up. */
		const single = rows.length === 1 ? expected(rows[0], report) : {};
		const sums = Object.fromEntries(["samples", "latency_sum", "loads", "stores", "branches"].map(key =>
			[key, count(rows.reduce((sum, row) => sum + row[key], 0))]));
		sums.weight = count(rows.reduce((sum, row) => sum + row.weight[report.share_of], 0));
		for (const [key, number] of Object.entries({ ...single, ...sums }))
			assert.ok(numbers[key] === number || (single.p99 && sameBucket(rows[0], key, numbers[key])), `${names} ${key}: ${numbers[key]}, not ${number}`);
	}
	assert.ok((await text(page, "#ledgers")).includes(count(report.totals.records)));
}));

await check("heading", () => withPage(opened, async page => {
	assert.equal(await text(page, ".badge"), "EMULATED SPU");
	assert.equal(await text(page, "#name"), `${hostname()}: session machine, since the start`);
	assert.match(await text(page, "#bottom"), /^Served by speprof-exporter /);
	assert.match(await text(page, "#status"), /^Rows of /);
	assert.ok(await page.locator("#memory").isHidden());
	assert.ok((await text(page, "#table thead button[data-key=p99]")).startsWith("~"));
}));

await check("policy", () => withPage(opened, async (page, trouble) => {
	const ran = await page.evaluate(async other => {
		const script = document.createElement("script");
		script.textContent = "window.ran = true;";
		document.body.append(script);
		const loaded = await fetch(other).then(() => true, () => false);
		return window.ran === true || loaded;
	}, url.replace("localhost", "127.0.0.1"));
	assert.equal(ran, false);
	assert.equal(trouble.filter(each => /Content Security Policy/.test(each)).length, trouble.length);
	assert.ok(trouble.length >= 2);
	trouble.length = 0;
}));

await check("selection", () => withPage(opened, async page => {
	await page.locator("#icicle [role=treeitem][aria-level='2']").first().click();
	await page.locator("#width").selectOption("samples");
	await page.locator("#table thead button[data-key=samples]").click();
	await page.locator("#icicle [tabindex='0']").focus();
	const state = async () => [await page.locator("#crumbs li").allTextContents(), await page.locator("#width").inputValue(),
		await page.locator("#table th[aria-sort] button").getAttribute("data-key"), await text(page, "#table")];
	const before = await state();
	assert.equal(before[0].length, 2);
	await update(page);
	assert.deepEqual(await state(), before);
	await page.locator("#detail").selectOption("line");
	await page.waitForFunction(() => [...document.querySelectorAll("#by option")].some(option => option.value === "line"));
	assert.deepEqual(await page.locator("#crumbs li").allTextContents(), before[0]);
}));

/* Choose an option, and wait until the page has shown its rows. */
async function chooseOption(page, id, value) {
	const answer = page.waitForEvent("requestfinished", begun);
	await page.locator(`#${id}`).selectOption(value);
	await answer;
	await idle(page);
	await updateUntil(page, () => page.locator("#failure").isHidden());
}

const options = (page, id) => page.locator(`#${id} option`).evaluateAll(list => list.map(option => option.value));

await check("sessions", () => withRows(async page => {
	assert.deepEqual(await options(page, "session"), ["machine", "loads"]);
	assert.equal(await page.locator("#session option").first().textContent(), "machine (stopped)");
	assert.deepEqual(await options(page, "period"), ["start", "10s", "1m", "10m", "1h", "1d"]);
	await chooseOption(page, "period", "1h");
	assert.match(await text(page, "#name"), /: session machine, last hour$/);
	assert.deepEqual(await page.locator("#ledgers .unknown dt").allTextContents(), ["duration", "lost", "suspect", "blind"]);
	await chooseOption(page, "session", "loads");
	assert.match(await text(page, "#name"), /: session loads, since the start$/);
	assert.deepEqual(await options(page, "period"), ["start", "10s", "1m", "10m"]);
	assert.equal(await text(page, "#when-note"), "Only the session machine has a history.");
	assert.deepEqual([...new Set((await tableRows(page)).map(row => row.numbers.stores))], ["0"]);
}));

await check("container", () => withRows(async page => {
	const names = [...new Set(report.rows.map(row => row.container))];
	assert.deepEqual((await options(page, "container")).sort(), ["", ...names].sort());
	const first = await page.locator("#container option").first().elementHandle();
	await update(page);
	assert.ok(await first.evaluate(option => option.isConnected), "an update makes no new options");
	await chooseOption(page, "container", names[0]);
	assert.match(await text(page, "#origin"), /Only samples of container /);
	assert.deepEqual((await options(page, "container")).sort(), ["", ...names].sort());
	const shown = await tableRows(page);
	const samples = report.rows.filter(row => row.container === names[0]).reduce((sum, row) => sum + row.samples, 0);
	assert.equal(shown.reduce((sum, { numbers }) => sum + Number(numbers.samples.replaceAll(",", "")), 0), samples);
}));

await check("timeline", () => withRows(async page => {
	await page.waitForSelector("#timeline svg");
	assert.match(await text(page, "#when-note"), /^From the daemon.s history: all samples, in steps of 1 min\./);
	await page.locator("#when-table summary").click();
	assert.equal(await page.locator("#slices tbody tr").count(), 60);
	const [, rate, mean, p99] = await page.locator("#slices tbody tr").last().locator("th, td").allTextContents();
	assert.ok(Number.parseFloat(rate) > 0 && Number.parseFloat(mean) > 0 && Number.parseFloat(p99) > 0);
	await page.locator("#timeline rect.rate").last().hover();
	assert.match(await text(page, "#when-hint"), /: .* operations\/s, mean .*, p99 .* cycles, DRAM /);
	await chooseOption(page, "period", "1d");
	assert.match(await text(page, "#when-note"), /in steps of 20 min\./);
}));

/* Functions that bring the page into each of its states. The last two add one line, which is tested at the least width. */
const STATES = {
	data: async () => {},
	function: async page => {
		for (const level of LEVELS) {
			await page.locator("#icicle [role=treeitem][aria-level='2']").first().click();
			assert.equal(await text(page, "#what-title"), `Selected ${level}`);
		}
	},
	loading: async page => {
		await request("pause");
		await page.locator("#refresh").click();
		await page.waitForSelector('#live[aria-busy="true"]');
	},
	refused: async page => {
		await page.evaluate(() => { location.hash = "token=not-the-token-of-the-page"; });
		await page.waitForSelector("#failure:not([hidden])");
		assert.match(await text(page, "#failure"), /^The token was refused\./);
	},
};

for (const scheme of ["light", "dark"])
	for (const [state, enter] of Object.entries(STATES))
		for (const size of ["loading", "refused"].includes(state) ? SIZES.slice(-1) : SIZES)
			await check(`accessible-${state}-${scheme}-${size[0]}`, () => withRows(async page => {
				await enter(page);
				await tests.checkAccess(page, join(folder, `live-${state}-${scheme}-${size[0]}.png`));
			}, { size, scheme }).finally(() => state === "loading" && request("resume")));

await check("accessible-no-token", () => withPage(`${url}/page/`, page => tests.checkAccess(page, join(folder, "live-no-token.png"))));

await check("daemon", () => withPage(opened, async page => {
	const failure = page.locator("#failure");
	const rows = await text(page, "#table");
	/* Collect what the page states, because a slow machine may read it too late. */
	await page.evaluate(() => {
		window.stated = [];
		const status = document.getElementById("status");
		new MutationObserver(() => window.stated.push(status.textContent)).observe(status, { childList: true });
	});
	await request("pause");
	await page.locator("#refresh").click();
	await page.waitForFunction(() => window.stated.includes("Waiting for the daemon \u2026"));
	assert.equal(await text(page, "#table"), rows);
	await request("resume");
	await idle(page);
	await updateUntil(page, () => failure.isHidden());
	assert.equal(await text(page, "#table"), rows);
	await request("kill");
	await updateUntil(page, async () => await failure.textContent() === "speprofd is not running.");
	assert.ok(await failure.isVisible());
	assert.equal(await text(page, "#table"), rows);
	assert.match(await text(page, "#status"), /^Not updated: the rows below are those of /);
	for (const scheme of ["dark", "light"]) {
		await page.emulateMedia({ colorScheme: scheme });
		await tests.checkAccess(page, join(folder, `live-away-${scheme}.png`));
	}
	await request("start");
	await updateUntil(page, () => failure.isHidden());
	assert.match(await text(page, "#status"), /^Rows of /);
	await request("stop-exporter");
	await page.locator("#refresh").click();
	await page.waitForSelector("#failure:not([hidden])");
	assert.match(await failure.textContent(), /^The exporter cannot be reached: /);
}));

await tests.exit();
