// Loaded by each process that baseline.ts starts. Node.js writes coverage when a process exits. The agent kills its
// worker processes, so these write theirs before they send the result of a job.
import { takeCoverage } from 'node:v8';

const send = process.send?.bind(process) as ((...message: readonly unknown[]) => boolean) | undefined;
if (send !== undefined) {
  process.send = (...message: readonly unknown[]) => {
    if ((message[0] as { readonly kind?: unknown } | null)?.kind === 'result') takeCoverage();
    return send(...message);
  };
}
