import type { Report } from './report.js';

/** The whole report; its JSON Schema is docs/report.schema.json. */
export function toJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
