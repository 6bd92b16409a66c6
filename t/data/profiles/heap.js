'use strict';
// Keeps memory that three functions allocate; one is called through a deep stack.
const kept = [];
function strings(n) { for (let i = 0; i < n; i++) kept.push('text ' + i); }
function objects(n) { for (let i = 0; i < n; i++) kept.push({ a: i, b: [i] }); }
const nest = (n, f) => (n ? nest(n - 1, f) : f());
strings(3000);
objects(2000);
nest(120, () => { const deepest = new Array(5000).fill(0.5); kept.push(deepest); });
global.kept = kept;
