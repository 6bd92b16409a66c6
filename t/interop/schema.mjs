// node schema.mjs FILE: is it valid by the JSON schema that speedscope ships?
import { createRequire } from 'node:module';
import fs from 'node:fs';
const require = createRequire(process.env.INTEROP + '/');
const Ajv = require('ajv').default;

const root = process.env.INTEROP + '/node_modules/speedscope/dist/release/file-format-schema.json';
const schema = JSON.parse(fs.readFileSync(root));
delete schema.$schema;
const validate = new Ajv({ strict: false }).compile(schema);
if (!validate(JSON.parse(fs.readFileSync(process.argv[2])))) {
	console.log(JSON.stringify(validate.errors, null, 1));
	process.exit(1);
}
