// This thread probes its core whenever its process asks. The operating system chooses the core. See probe-threads.ts.
import { workerData } from 'node:worker_threads';
import { PROBE_TRIES, type ProbeThreadData, SLOTS } from './probe-threads.js';
import { timeWork, warmUpWork } from './probe-work.js';

const { shared } = workerData as ProbeThreadData;
const slots = new Int32Array(shared);

warmUpWork();
for (let asked = 0; ; asked = Atomics.load(slots, SLOTS.asked)) {
  Atomics.store(slots, SLOTS.answered, asked);
  Atomics.notify(slots, SLOTS.answered);
  Atomics.wait(slots, SLOTS.asked, asked);
  Atomics.store(
    slots,
    SLOTS.ns,
    timeWork(() => process.hrtime.bigint(), PROBE_TRIES),
  );
}
