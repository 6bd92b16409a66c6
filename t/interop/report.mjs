// Test pages of trstat --report -t html in a browser.
// usage: node report.mjs NPM HTML [DIR]: NPM is where npm's packages are; screenshots go to DIR
//
// Prints a line for each fault: of the markup (html-validate), of accessibility (axe-core, in both colours), a
// request, a script or a dialog that the page may not have, rows that a sort by the keyboard leaves unsorted, a page
// wider than the screen. Exits with 1 if there are any.
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const [npm, file, shots] = process.argv.slice(2);
const require = createRequire(resolve(npm, 'node_modules', 'x'));
const { HtmlValidate } = require('html-validate');
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const faults = [];

function fault(...words) {
	faults.push(words.join(' '));
}

// frames of pictures are groups of SVG, which has no element for images of shapes
const rules = { 'prefer-native-element': ['error', { exclude: ['img', 'region'] }] };
const validator = new HtmlValidate({ extends: ['html-validate:recommended'], rules });
for (const result of (await validator.validateString(readFileSync(file, 'utf8'))).results)
	for (const m of result.messages.slice(0, 20)) fault('markup:', `${m.line}:${m.column}`, m.ruleId, m.message);

const chromium = process.env.PATH.split(':').map(d => join(d, 'chromium')).find(existsSync);
const browser = await puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage();
page.on('dialog', dialog => { fault('dialog:', dialog.message()); dialog.dismiss(); });
page.on('console', message => fault('console:', message.text()));
page.on('pageerror', error => fault('script:', error.message));
page.on('request', request => { if (!request.url().startsWith('file:')) fault('request:', request.url()); });

async function open(scheme, width) {
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
	await page.setViewport({ width, height: 900 });
	await page.goto('file://' + resolve(file));
}

async function accessible(scheme) {
	await page.evaluate(axe);
	const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
	for (const v of violations)
		fault('axe:', scheme, v.id, v.help, v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | '));
}

for (const scheme of ['light', 'dark']) {
	for (const width of [400, 1280, 2560]) {
		await open(scheme, width);
		const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		if (wide > 0) fault('wide:', width, 'and', wide, 'pixels');
		if (shots) await page.screenshot({ path: `${shots}/${basename(file, '.html')}-${scheme}-${width}.png`, fullPage: true });
	}
	await accessible(scheme);
}

// the switch of the colours: dark on a light screen, then light on a dark screen
async function paper() {
	return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
}

await open('light', 1280);
const light = await paper();
await page.focus('#colours');
await page.keyboard.press('Enter');
const dark = await paper();
await accessible('switched to dark');
await open('dark', 1280);
if (await paper() !== dark || dark === light) fault('switch: not dark:', dark);
await page.focus('#colours');
await page.keyboard.press('Enter');
await page.keyboard.press('Enter');
if (await paper() !== light) fault('switch: not light');

// each heading by keyboard: rows are sorted by what the cells show, once in each direction
const headings = await page.$$('th button');
for (let i = 0; i < headings.length; i++) {
	const before = await headings[i].evaluate(b => b.closest('th').getAttribute('aria-sort'));
	await headings[i].focus();
	for (const key of ['Enter', 'Space']) {
		await page.keyboard.press(key);
		const [order, values] = await headings[i].evaluate(b => {
			const head = b.closest('th'), rows = [...head.closest('table').tBodies[0].rows];
			const number = head.classList.contains('n');
			return [head.getAttribute('aria-sort'), rows.map(r => r.cells[head.cellIndex])
				.map(c => number ? c.dataset.v === '' ? null : +c.dataset.v : c.textContent || null)];
		});
		const shown = values.filter(v => v !== null);
		const sorted = [...shown].sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
		if (order === 'descending') sorted.reverse();
		if (!order || values.indexOf(null) >= 0 && values.indexOf(null) < shown.length ||
			shown.some((v, at) => v !== sorted[at])) fault('sort:', i, order, 'was', before);
	}
}

// a search leaves the rows with the text
const input = await page.$('input[type=search]');
if (input) {
	const text = await input.evaluate(e => e.closest('section').querySelector('tbody tr:nth-child(2)').lastElementChild.textContent);
	await input.type(text.slice(0, 12));
	const wrong = await input.evaluate((e, text) => [...e.closest('section').querySelectorAll('tbody tr')]
		.filter(r => r.hidden === r.textContent.toLowerCase().includes(text.toLowerCase())).length, text.slice(0, 12));
	if (wrong) fault('search:', wrong, 'rows');
}

// a flame graph: arrows move between frames, Enter zooms, Escape resets
const graph = await page.$('svg.graph .f');
if (graph) {
	const widths = () => page.$$eval('svg.graph .f', all => all.filter(f => f.style.display !== 'none').length);
	const all = await widths();
	await graph.evaluate(g => g.focus());
	for (let i = 0; i < 2; i++) await page.keyboard.press('ArrowRight');
	const stops = await page.$$eval('svg.graph .f[tabindex="0"]', all => all.length);
	if (all > 2 && stops !== 1) fault('flame graph:', stops, 'stops of Tab');
	await page.keyboard.press('Enter');
	const zoomed = await page.evaluate(() => +document.activeElement.querySelector('rect').getAttribute('width'));
	if (Math.abs(zoomed - 1180) > 0.01) fault('flame graph: zoomed to', zoomed);
	await page.keyboard.press('Escape');
	if (await widths() !== all) fault('flame graph: not reset');
}
await browser.close();
for (const line of faults) console.log(line);
process.exit(faults.length ? 1 : 0);
