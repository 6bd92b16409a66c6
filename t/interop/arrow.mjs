// node arrow.mjs rows FILE: the rows of an Arrow stream as JSON lines; write: a stream of two rows
import { createRequire } from 'node:module';
import fs from 'node:fs';
const require = createRequire(process.env.INTEROP + '/');
const arrow = require('apache-arrow');

if (process.argv[2] === 'rows') {
	const table = arrow.tableFromIPC(fs.readFileSync(process.argv[3]));
	for (const row of table) console.log(JSON.stringify(row.toJSON(), (k, v) => (typeof v === 'bigint' ? Number(v) : v)));
} else {
	const vector = (values, type) => arrow.vectorFromArray(values, type);
	const table = new arrow.Table({
		time: vector([1764547200000000000n, 1764547200000001000n], new arrow.Int64()),
		tid: vector([1, 2], new arrow.Uint16()),
		name: vector(['read', 'write'], new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32())),
		bytes: vector([5, 0.5], new arrow.Float64()),
		ok: vector([true, false], new arrow.Bool()),
		parts: vector([[1, 2], [3]], new arrow.List(new arrow.Field('item', new arrow.Int8()))),
	});
	process.stdout.write(arrow.tableToIPC(table, 'stream'));
}
