import { measurementKey } from '../../measurement/measurement.js';
import { openMongoStore } from '../mongodb/open.js';
import type { ResultStore, StoreOptions } from '../result-store.js';
import { putRecord, type Transferred } from '../transfer.js';
import type { TransferRecord } from '../transfer-record.js';
import { Spool, spoolFolder } from './spool.js';

/** @returns the numbers of writes that waited */
export async function syncSpool(uri: string, dataFolder: string, options: StoreOptions): Promise<Transferred> {
  const store = await openMongoStore(uri, options);
  const spool = new Spool(spoolFolder(dataFolder, store.address), options);
  try {
    return await sendSpooled(spool, store);
  } finally {
    await store.close();
    await spool.close();
  }
}

/** At any moment, each write is in the spool or on the server. @returns the numbers of writes that waited */
export async function sendSpooled(spool: Spool, store: ResultStore, signal?: AbortSignal): Promise<Transferred> {
  const sent = { measurements: 0, documents: 0 };
  for await (const { record, spooled } of spool.records()) {
    if (signal?.aborted === true) break;
    if (!(await isOutdated(record, store))) await putRecord(record, store);
    await spool.remove(spooled);
    sent[`${record.kind}s`] += 1;
  }
  return sent;
}

/** Whether the server has a later measurement: others may have measured the same meanwhile. */
async function isOutdated(record: TransferRecord, store: ResultStore): Promise<boolean> {
  if (record.kind !== 'measurement') return false;
  const { signature, system, setup } = measurementKey(record.measurement);
  const stored = (await store.findMeasurements([signature], system, setup)).get(signature);
  return stored !== undefined && Date.parse(stored.measuredAt) > Date.parse(record.measurement.measuredAt);
}
