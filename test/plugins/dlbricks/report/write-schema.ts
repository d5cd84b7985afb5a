import { writeFile } from 'node:fs/promises';
import { reportJsonSchema } from './json-schema.js';

/** `make schema`, run in the project's folder. */
await writeFile('docs/report.schema.json', `${JSON.stringify(reportJsonSchema(), null, 2)}\n`);
