import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LoadRow, loadResultSchema } from '../../plugins/load/load-result.js';
import { workplaceHere } from './support/workplace-here.js';

const MODEL = ['zoo:squeezenet1.1', '--threads', '1'];
const ATTEMPTS = 4;

/** Whether nothing else kept the model or the generator from working as they do alone. */
function isUndisturbed({ measured, predicted }: LoadRow): boolean {
  const { service_low_ms: low, service_high_ms: high } = predicted ?? {};
  const service = measured?.service_mean_ms;
  if (measured?.ended !== 'complete' || measured.invalid !== null || low == null || high == null) return false;
  return service != null && low <= service && service <= high;
}

describe('a prediction of load from bricks', { timeout: 600_000 }, () => {
  it('has the measured p50 of a real model in its interval at half of its capacity', async (t) => {
    const place = await workplaceHere(t);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // The estimate and the load are of one hour: other processes may come and go.
      await place.run(['dlbricks', 'run', ...MODEL, '--remeasure', 'all', '--quiet'], { repeats: true });
      const single = ['load', ...MODEL, '--predict', '--export-json', '-'];
      const [first] = loadResultSchema.parse(JSON.parse((await place.run(single)).stdout)).rows;
      const serviceMs = first?.predicted?.service_ms;
      assert.ok(serviceMs != null, 'the estimate is in the store');
      const rate = ['--scenario', 'server', '--rate', String(500 / serviceMs), '--queries', '500'];
      const { stdout, stderr } = await place.run(['load', ...MODEL, ...rate, '--validate', '--export-json', '-']);
      const [row] = loadResultSchema.parse(JSON.parse(stdout)).rows;
      assert.ok(row?.measured, stderr);
      const { measured, predicted } = row;
      assert.ok(predicted?.value != null, predicted?.reason ?? 'no prediction');
      const utilization = predicted.utilization ?? 0;
      assert.ok(utilization > 0.4 && utilization < 0.7, `${utilization}`);
      // Holds for every record, whatever else runs.
      assert.ok(Math.abs(measured.little_error ?? 1) < 0.02, `Little's law is off by ${measured.little_error}`);
      if (!isUndisturbed(row)) continue;
      const { p50_ms: p50 } = measured;
      const [low, high] = [predicted.low?.p50_ms, predicted.high?.p50_ms];
      assert.ok(p50 !== null && low != null && high != null && low <= p50 && p50 <= high, `${low} ${p50} ${high}`);
      const achieved = (measured.achieved_per_second ?? 0) / (row.offered_per_second ?? 1);
      assert.ok(Math.abs(achieved - 1) < 0.01, `${achieved}`);
      return;
    }
    t.diagnostic(`other processes disturbed the model or the generator in all ${ATTEMPTS} attempts`);
  });
});
