import { readlinkSync } from 'node:fs';
import { sha256Of } from './sha256.js';
import { readSystemFile } from './system-file.js';

/** The same for processes whose monotonic clocks agree; '' where unknown. A hash: a boot's id identifies a machine. */
export function clockId(): string {
  const boot = readSystemFile('/proc/sys/kernel/random/boot_id');
  if (boot === undefined) return '';
  let namespace = '';
  try {
    namespace = readlinkSync('/proc/self/ns/time');
  } catch {
    // Before Linux 5.6, there is one namespace.
  }
  return sha256Of(`mlmodelscope clock ${boot} ${namespace}`);
}
