// node query.mjs SQL...: the rows of each, cells separated by tabs, by DuckDB
import { createRequire } from 'node:module';
const require = createRequire(process.env.INTEROP + '/');
const { DuckDBInstance } = require('@duckdb/node-api');

const connection = await (await DuckDBInstance.create()).connect();
for (const sql of process.argv.slice(2)) {
	const rows = (await connection.runAndReadAll(sql)).getRows();
	for (const row of rows) console.log(row.map((v) => (v === null ? '' : String(v))).join('\t'));
}
