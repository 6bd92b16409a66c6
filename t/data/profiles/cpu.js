'use strict';
// Sorts, matches and recurses.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
class Table {
	constructor(n) { this.rows = Array.from({ length: n }, (_, i) => (i * 7919) % n); }
	sorted() { return [...this.rows].sort((a, b) => a - b); }
	matches(re) { return this.rows.filter((r) => re.test('row ' + r)).length; }
}
let sum = 0;
for (let i = 0; i < 8; i++) {
	const t = new Table(20000);
	sum += t.sorted()[7] + t.matches(/1[0-9]*3$/) + fib(20 + i % 3);
}
const nest = (n) => (n ? nest(n - 1) : fib(22));
sum += nest(140);
console.log(sum);
