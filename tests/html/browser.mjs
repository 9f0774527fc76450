// SPDX-License-Identifier: LGPL-2.1-or-later
// Open HTML reports in Chromium, use them as a reader does, and compare what they show with the JSON
// of the same recordings.
//
// usage: node browser.mjs NODE_MODULES CHROMIUM FOLDER
// FOLDER has shop.html, saved.html, diff.html, and pages with hostile names; shop.json ("report -j"), diff.json
// ("diff -j") and shop-summary.json ("summary -j"). It receives pictures. Prints PASS and FAIL lines; exits with 1 if anything failed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Chromium, SIZES, tableRows } from "./chromium.mjs";
import { count, expected, percent } from "./expected.mjs";

const [modules, chromium, folder] = process.argv.slice(2);
const json = name => JSON.parse(readFileSync(join(folder, name), "utf8"));
const fileUrl = name => `file://${join(folder, name)}`;
/* A page is one file: each other request is a failure. */
const tests = await Chromium.start({ modules, chromium, prefix: "html", permits: (url, page) => url === page });
const check = (name, fn) => tests.check(name, fn);
const drawn = page => page.waitForSelector("#main:not([hidden])");
const withPage = (name, fn, options) => tests.withPage(fileUrl(name), drawn, fn, options);

const box = (page, level, name) => page.locator(`#icicle [role=treeitem][aria-label$=${JSON.stringify(`, ${level} ${name}`)}]`);
const dataOf = async (page, key) => (await page.locator(`#numbers dd[data-key="${key}"]`).textContent()).trim();
await check("function", () => withPage("shop.html", async page => {
	const report = json("shop.json");
	const row = report.rows.find(each => each.function === "ExecHashJoin");
	await box(page, "container", "shop-db").click();
	await box(page, "program", "postgres").click();
	await box(page, "binary", row.binary).click();
	await box(page, "function", "ExecHashJoin").click();
	const wanted = expected(row, report);
	for (const key of ["samples", "latency_sum", "p50", "p99", "loads", "stores", "branches"])
		assert.equal(await dataOf(page, key), wanted[key], key);
	assert.equal(await dataOf(page, "dram"), `${count(row.dram)}  (${wanted.dram})`);
	assert.deepEqual(await page.locator("#crumbs li").allTextContents(), ["all samples", "shop-db", "postgres", "postgres", "ExecHashJoin"]);
	await page.locator("#crumbs button").nth(1).click();
	assert.equal(await page.locator("#what-title").textContent(), "Selected container");
}));

await check("rows", () => withPage("shop.html", async page => {
	const report = json("shop.json");
	const shown = await tableRows(page);
	assert.equal(shown.length, report.rows.length);
	const byName = new Map(shown.map(row => [row.names.join("\n"), row.numbers]));
	for (const row of report.rows) {
		const numbers = byName.get([row.container, row.program, row.binary, row.function].join("\n"));
		assert.ok(numbers, `no row ${row.container} ${row.function}`);
		for (const [key, text] of Object.entries(expected(row, report)))
			assert.equal(numbers[key], text, `${row.function} ${key}`);
	}
}));

await check("levels", () => withPage("shop.html", async page => {
	const levels = Object.values(json("shop-summary.json").totals.level_latency);
	const shown = await page.locator("#levels tbody tr").evaluateAll(rows => rows.map(row =>
		[...row.querySelectorAll("td")].map(cell => cell.textContent)));
	const cycles = n => (n < 100 ? n.toFixed(1) : count(Math.round(n)));
	assert.deepEqual(shown, levels.map(level =>
		[count(level.samples), `${(100 * level.share).toFixed(1)} %`, cycles(level.mean), count(level.p50), count(level.p99)]));
}));

await check("heading", () => withPage("shop.html", async page => {
	const { totals, blind_ns: blind, enabled_ns: enabled } = json("shop.json");
	const text = await page.locator("#ledgers").innerText();
	assert.equal(await page.locator(".badge").textContent(), "EMULATED SPU");
	for (const part of [count(totals.records), `${totals.lost_bytes / 1024} KiB`, percent(blind, enabled)])
		assert.ok(text.includes(part), `${part} in ${text}`);
	assert.match(await page.locator("#guide").textContent(), /micro-operations/);
	assert.ok((await page.locator("#table thead button[data-key=p99]").textContent()).startsWith("~"));
	assert.ok(!(await page.locator("#table thead button[data-key=samples]").textContent()).startsWith("~"));
}));

await check("keyboard", () => withPage("shop.html", async page => {
	const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? "");
	await page.keyboard.press("Tab");
	assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the table of rows");
	await page.locator("#icicle [tabindex='0']").focus();
	assert.equal(await focused(), "all samples 100.0 % · 27.5 cycles, all all samples");
	for (const [key, label] of [["ArrowDown", "container shop-db"], ["ArrowRight", "container search"], ["Home", "container shop-db"],
		["ArrowDown", "program postgres"], ["Enter", "program postgres"], ["ArrowDown", "binary"], ["ArrowDown", "function hash_search_with_hash_value"],
		["ArrowRight", "function ExecHashJoin"], ["ArrowUp", "binary"]]) {
		await page.keyboard.press(key);
		assert.ok((await focused()).includes(`, ${label}`), `${key}: ${await focused()}, not ${label}`);
	}
	assert.equal(await page.locator("#what-title").textContent(), "Selected program");
	await page.keyboard.press("Escape");
	assert.equal(await page.locator("#what-title").textContent(), "Selected container");
	await page.locator("#table thead button[data-key=p99]").focus();
	await page.keyboard.press("Enter");
	assert.equal(await page.locator("#table thead th[aria-sort]").getAttribute("aria-sort"), "descending");
	await page.keyboard.press("Enter");
	assert.equal(await page.locator("#table thead th[aria-sort]").getAttribute("aria-sort"), "ascending");
}));

await check("search", () => withPage("shop.html", async page => {
	const rows = json("shop.json").rows.filter(row => row.function.includes("memcpy"));
	await page.locator("#find").fill("MEMCPY");
	assert.match(await page.locator("#found").textContent(), new RegExp(`^${rows.length} found, `));
	assert.equal(await page.locator("#table tbody tr").count(), rows.length);
	assert.ok(await box(page, "container", "cache").evaluate(item => item.classList.contains("miss")));
	assert.ok(!await box(page, "container", "shop-db").evaluate(item => item.classList.contains("miss")));
	await page.locator("#find").fill("no such function");
	assert.equal(await page.locator("#found").textContent(), "nothing found");
}));

await check("measures", () => withPage("shop.html", async page => {
	const width = name => box(page, "container", name).evaluate(item => item.getBoundingClientRect().width);
	const { rows } = json("shop.json");
	const sum = (name, key) => rows.filter(row => row.container === name).reduce((total, row) => total + row[key], 0);
	await page.locator("#width").selectOption("latency_sum");
	const whole = await page.locator("#icicle").evaluate(item => item.clientWidth);
	const all = rows.reduce((total, row) => total + row.latency_sum, 0);
	assert.ok(Math.abs(await width("cache") + 1 - whole * sum("cache", "latency_sum") / all) < 1);
	await page.locator("#colour").selectOption("dram");
	const dram = (100 * sum("cache", "dram") / sum("cache", "memory")).toFixed(0);
	assert.match(await box(page, "container", "cache").getAttribute("aria-label"), new RegExp(` · ${dram} % DRAM, `));
	await page.locator("#by").selectOption("container");
	assert.equal(await page.locator("#table tbody tr").count(), new Set(rows.map(row => row.container)).size);
}));

await check("time", () => withPage("shop.html", async page => {
	const report = json("shop.json");
	const columns = async () => {
		const rows = await page.locator("#slices tbody tr").evaluateAll(list => list.map(row => [...row.children].map(cell => cell.textContent)));
		return rows[0].map((_, i) => rows.map(row => row[i]));
	};
	const total = list => list.reduce((sum, text) => sum + Number(text.replaceAll(",", "")), 0);
	await page.locator("#when-table summary").click();
	const [, samples, , , , blind, lost] = await columns();
	assert.equal(total(samples), report.totals.records);
	assert.deepEqual(lost.filter(text => text !== "0 B"), [`${report.totals.lost_bytes / 1024} KiB`]);
	assert.ok(Math.max(...blind.map(text => parseFloat(text) || 0)) > 5, "the slice with a pause");
	assert.ok(samples.length >= 60 && samples.length <= 120);
	await box(page, "container", "cache").click();
	const cache = report.rows.filter(row => row.container === "cache").reduce((sum, row) => sum + row.samples, 0);
	assert.equal(total((await columns())[1]), cache);
	await page.locator("#timeline").hover();
	assert.match(await page.locator("#when-hint").textContent(), /^\d.* samples, mean .* cycles, blind .*, lost /);
}));

const codeRows = card => card.locator("tbody tr").evaluateAll(rows => rows.map(row =>
	Object.fromEntries([...row.querySelectorAll("td[data-key]")].map(cell => [cell.dataset.key, cell.textContent]))));

await check("instructions", () => withPage("shop.html", async page => {
	const [code] = json("shop-code.json").functions;
	const card = page.locator("#code .card").first();
	assert.equal(await page.locator("#code .card").count(), 2);
	assert.equal(await card.locator("h3").textContent(), `ExecHashJoin in ${code.binary}`);
	const rows = await codeRows(card);
	assert.deepEqual(rows.map(row => row.offset), code.instructions.map(line => line.offset));
	for (const [i, line] of code.instructions.entries()) {
		assert.equal(rows[i].samples, line.samples ? count(line.samples) : "", line.offset);
		assert.equal(rows[i].share, line.samples ? percent(line.share, 1) : "", line.offset);
		assert.equal(rows[i].p99, line.samples ? count(line.p99) : "-", line.offset);
	}
	const { samples } = json("shop.json").rows.find(each => each.function === "ExecHashJoin");
	assert.equal(code.instructions.reduce((sum, line) => sum + line.samples, 0), samples);
	assert.equal(await card.locator("tbody th[scope=row]").count(), rows.length);
	await card.locator("thead button[data-key=samples]").focus();
	await page.keyboard.press("Enter");
	assert.equal(await card.locator("th[aria-sort]").getAttribute("aria-sort"), "descending");
	const most = Math.max(...code.instructions.map(line => line.samples));
	assert.equal((await codeRows(card))[0].samples, count(most));
	assert.equal(await page.evaluate(() => document.activeElement.dataset.key), "samples");
	await page.keyboard.press("Enter");
	assert.equal((await codeRows(card)).at(-1).samples, count(most));
	assert.ok((await card.locator("thead button[data-key=mean]").textContent()).startsWith("~"));
}));

await check("memory", () => withPage("shop.html", async page => {
	const { lines, pages, containers } = json("shop-memory.json");
	/* Which of the light lines are in a table of fixed size depends on chance. */
	const heavy = lines.filter(line => line.samples >= 100).map(line => line.address);
	assert.deepEqual((await page.locator("details.line code").allTextContents()).slice(0, heavy.length), heavy);
	assert.ok(lines.some(line => line.sharing === "false") && lines.some(line => line.sharing === "true"));
	assert.deepEqual((await page.locator("details.line p").allTextContents()).slice(0, heavy.length),
		lines.slice(0, heavy.length).map(line => line.advice));
	assert.equal(await page.locator("section#memory tbody th code").count(), Math.min(20, pages.length));
	const sets = await page.locator("#page-sets > .scroll tbody tr").evaluateAll(rows =>
		rows.map(row => [...row.cells].map((cell, i) => i ? Number(cell.textContent.replaceAll(",", "")) : cell.textContent)));
	assert.deepEqual(sets, containers.slice(0, 20).map(each => [each.container, each.samples, each.pages, each.hot.pages, each.cold.pages,
		each.misplaced.pages, each.misplaced.cycles, each.huge_candidates.ranges_found, each.huge_candidates.cycles]));
	assert.equal(await page.locator("#page-sets details").count(), 4);
	assert.equal(await page.locator("#page-sets details").first().locator("tbody tr").count(),
		Math.min(20, containers.slice(0, 20).reduce((sum, each) => sum + Math.min(20, each.hot.ranges.length), 0)));
}));

await check("saved", () => withPage("saved.html", async page => {
	const report = json("shop.json");
	const row = report.rows.find(each => each.function === "ExecHashJoin");
	const wanted = expected(row, report);
	await page.locator("#find").fill("ExecHashJoin");
	const cells = await page.locator("#table tbody tr td[data-key]").evaluateAll(list => Object.fromEntries(list.map(cell => [cell.dataset.key, cell.textContent])));
	for (const key of ["share", "samples", "weight", "latency_sum", "p50", "p99", "loads", "stores", "dram"])
		assert.equal(cells[key], wanted[key], key);
	assert.ok(await page.locator("#code").isHidden());
	assert.match(await page.locator("#name").textContent(), /saved.json$/);
	assert.match(await page.locator("#when-note").textContent(), /without times/);
	assert.match(await page.locator("#memory-body").textContent(), /no addresses/);
	assert.match(await page.locator("#ledgers").innerText(), /not known/);
}));

await check("comparison", () => withPage("diff.html", async page => {
	const diff = json("diff.json");
	const signed = value => (value > 0 ? "+" : "") + value.toFixed(1);
	assert.equal(await page.locator("#words li").count(), diff.words.length);
	assert.ok(await page.locator("#when").isHidden() && await page.locator("#memory").isHidden());
	const shown = await tableRows(page);
	assert.equal(shown.length, diff.rows.length);
	const row = diff.rows.find(each => each.function === "ExecHashJoin");
	const { numbers } = shown.find(each => each.names.at(-1) === "ExecHashJoin");
	assert.equal(numbers["share-before"], percent(row.before.share, 1));
	assert.equal(numbers["share-change"], `${signed(100 * row.change.share)} %`);
	assert.equal(numbers["mean-after"], row.after.mean.toFixed(1));
	assert.equal(numbers["samples-after"], count(row.after.samples));
	assert.equal(numbers.marks, String(Object.values(row.exceeds_chance).filter(Boolean).length));
	await page.locator("#table tbody th button", { hasText: "ExecHashJoin" }).click();
	assert.equal(await page.locator("#numbers tr[data-key=samples] td").nth(1).textContent(), count(row.after.samples));
	assert.match(await page.locator("#numbers p").textContent(), /exceeds chance/);
	await page.locator("#colour").selectOption("dram");
	assert.match(await page.locator("#legend").textContent(), /change of the DRAM share/);
}));

for (const name of ["hostile", "hostile-saved", "hostile-diff"])
	await check(`${name}-names`, () => withPage(`${name}.html`, async page => {
		await page.locator("#find").fill("<b>bold<!--");
		const names = await page.locator("#table tbody tr").evaluateAll(rows => rows.map(row => row.querySelector("th").textContent));
		for (const name of ["<script>alert(1)</script>", "</style><b>bold", "<img src=x onerror=alert(2)>", "right\\xe2\\x80\\xaeto-left"])
			assert.ok(names.includes(name), name);
		assert.ok(names.some(name => /^a{100,}$/.test(name)), "the long name");
		assert.equal(await page.locator("main img, main i:not([class]), main script").count(), 0);
		await box(page, "container", "<b>bold<!--").click();
		assert.equal(await page.locator("#crumbs li").nth(1).textContent(), "<b>bold<!--");
		assert.equal(await page.evaluate(() => document.scripts.length), 1);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no name widens the page");
	}));

await check("hostile-instructions", () => withPage("hostile.html", async page => {
	const names = await page.locator("#code h3 bdi:first-child").allTextContents();
	for (const name of ["<script>alert(1)</script>", "<img src=x onerror=alert(2)>", "right\\xe2\\x80\\xaeto-left"])
		assert.ok(names.includes(name), `${name} in ${names}`);
	assert.ok(names.some(name => /^a{100,}$/.test(name)), "the long name");
	assert.equal(await page.locator("#code img, #code script").count(), 0);
}));

await check("policy", () => withPage("shop.html", async (page, trouble) => {
	const ran = await page.evaluate(() => {
		const script = document.createElement("script");
		script.textContent = "window.ran = true;";
		document.body.append(script);
		return window.ran === true;
	});
	assert.equal(ran, false);
	assert.match(trouble.join(), /Content Security Policy/);
	trouble.length = 0;
}));

/* Paper is white, also for a reader of a dark page. */
await check("print", () => withPage("shop.html", async page => {
	await page.emulateMedia({ media: "print" });
	const [text, paper] = await page.evaluate(() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]);
	assert.deepEqual([text, paper], ["rgb(29, 33, 38)", "rgb(255, 255, 255)"]);
	assert.ok(await page.locator("#find").isHidden());
	await page.screenshot({ path: join(folder, "shop-print.png"), fullPage: true });
}, { scheme: "dark" }));

await check("damaged", () => tests.withPage(fileUrl("damaged.html"), page => page.waitForSelector("#failure:not([hidden])"), async page => {
	assert.match(await page.locator("#failure").textContent(), /^This report cannot be shown: /);
}));

for (const scheme of ["light", "dark"])
	for (const size of SIZES)
		for (const name of ["shop", "diff"])
			await check(`accessible-${name}-${scheme}-${size[0]}`, () => withPage(`${name}.html`, async page => {
				await tests.checkAccess(page, join(folder, `${name}-${scheme}-${size[0]}.png`));
				assert.ok(await page.locator("#levels .scroll").evaluateAll(list => list.every(each => each.scrollWidth <= each.clientWidth)), "levels scroll sideways");
			}, { size, scheme }));

await tests.exit();
