// SPDX-License-Identifier: LGPL-2.1-or-later
// Open pages in Chromium for tests, and print a PASS or FAIL line for each test.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"];

/** Widths and heights at which pages are tested: a desktop, a tablet and a phone. */
export const SIZES = [[1400, 900], [800, 1000], [390, 844]];

/** Show all rows of the table. Return their names, and their numbers by key. */
export async function tableRows(page) {
	while (await page.locator("#more").isVisible())
		await page.locator("#more").click();
	return page.locator("#table tbody tr").evaluateAll(rows => rows.map(row => ({
		names: [...row.querySelectorAll(".text, th")].map(cell => cell.textContent),
		numbers: Object.fromEntries([...row.querySelectorAll("td[data-key]")].map(cell => [cell.dataset.key, cell.textContent])),
	})));
}

/** Tests in one browser. @failed: the exit status, 1 if any test failed. */
export class Chromium {
	/**
	 * Start a browser. @modules: folder of npm packages. @prefix: begins the name of each test.
	 * @permits: return whether a page may request a URL, from that and the URL of the page. @ignores: whether to ignore the text of a console message.
	 */
	static async start({ modules, chromium, prefix, permits, ignores = () => false }) {
		const tests = new Chromium();
		const require = createRequire(join(modules, "x"));
		Object.assign(tests, { prefix, permits, ignores, failed: 0 });
		tests.axe = readFileSync(join(modules, "axe-core/axe.min.js"), "utf8");
		tests.browser = await require("playwright-core").chromium.launch({ executablePath: chromium, args: FLAGS });
		return tests;
	}

	/** Run @fn with the page of a URL, when @ready has returned. It can remove from the list of troubles what it expects. */
	async withPage(url, ready, fn, { size = SIZES[0], scheme = "light" } = {}) {
		const context = await this.browser.newContext({ viewport: { width: size[0], height: size[1] }, colorScheme: scheme, reducedMotion: "reduce" });
		/* A slow machine is no failure; the lane has a limit of its own. */
		context.setDefaultTimeout(0);
		const page = await context.newPage();
		const trouble = [];
		page.on("console", message => this.ignores(message.text()) || trouble.push(`console: ${message.text()}`));
		page.on("pageerror", error => trouble.push(`error: ${error.message}`));
		page.on("dialog", dialog => trouble.push(`dialog: ${dialog.message()}`));
		page.on("request", request => this.permits(request.url(), url) || trouble.push(`request: ${request.url()}`));
		await page.goto(url);
		await ready(page);
		await fn(page, trouble);
		assert.deepEqual(trouble, []);
		await context.close();
	}

	/** Run a test. */
	async check(name, fn) {
		try {
			await fn();
			console.log(`PASS ${this.prefix}-${name}`);
		} catch (error) {
			console.log(`FAIL ${this.prefix}-${name}: ${String(error.stack ?? error).split("\n").slice(0, 12).join(" | ")}`);
			this.failed = 1;
		}
	}

	/** Take a picture of the page, and check that axe-core finds nothing serious and that it does not scroll sideways. */
	async checkAccess(page, picture) {
		await page.screenshot({ path: picture, fullPage: true });
		/* A policy of the page forbids inline scripts; this one comes from the debugger, which the policy does not bind. */
		await page.evaluate(this.axe);
		const { violations } = await page.evaluate(() => window.axe.run());
		const serious = violations.filter(each => ["serious", "critical"].includes(each.impact));
		assert.deepEqual(serious.map(each => `${each.id}: ${each.nodes.slice(0, 3).map(node => node.html + " " + node.failureSummary).join(", ")}`), []);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page scrolls sideways");
	}

	/** End the browser and the program. */
	async exit() {
		await this.browser.close();
		process.exit(this.failed);
	}
}
