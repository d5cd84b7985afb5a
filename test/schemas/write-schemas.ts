import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PUBLISHED, SCHEMAS_FOLDER, schemaText } from './published.js';

/** `make schema`, run in the project's folder. */
await rm(SCHEMAS_FOLDER, { recursive: true, force: true });
await mkdir(SCHEMAS_FOLDER);
for (const [name, schema] of PUBLISHED) {
  await writeFile(join(SCHEMAS_FOLDER, `${name}.schema.json`), schemaText(schema));
}
