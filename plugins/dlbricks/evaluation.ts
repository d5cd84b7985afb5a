import {
  type Evaluation,
  type EvaluationEvent as PlatformEvent,
  PlatformError,
  whileTelling,
  z,
} from '../../src/plugin-api.js';
import { cutOf, precisionOf, protocolOf } from './commands/options.js';
import { disturbedLine, plannedLine, repeatingLine } from './commands/show-progress.js';
import { evaluate } from './evaluate.js';
import type { EstimateEvent } from './measure/measure-all.js';
import { reportOf } from './report/report.js';

/** Time between two events that only say how far one measurement is. */
const RUNNING_INTERVAL_MS = 500;

/** An evaluation's events as the platform has them. */
function translate(tell: (event: PlatformEvent) => void): (event: EstimateEvent) => void {
  let measuring: Extract<PlatformEvent, { readonly kind: 'measuring' }> | undefined;
  let toldMs = 0;
  const within = (detail: string): void => {
    if (measuring === undefined) return;
    toldMs = performance.now();
    tell({ ...measuring, label: `${measuring.label} (${detail})` });
  };
  return (event) => {
    switch (event.kind) {
      case 'preparing':
        tell({ kind: 'measuring', done: event.done, total: event.total, label: `preparing ${event.model}` });
        break;
      case 'planned':
        tell({ kind: 'planned', summary: plannedLine(event), known: event.known, toMeasure: event.toMeasure });
        break;
      case 'repeating':
        tell({ kind: 'note', level: 'info', message: repeatingLine(event.bricks) });
        break;
      case 'measuring':
        measuring = event;
        toldMs = performance.now();
        tell(event);
        break;
      case 'disturbed':
        within(disturbedLine(event.share));
        break;
      case 'running':
        if (performance.now() - toldMs >= RUNNING_INTERVAL_MS) within(`run ${event.runsDone} of ${event.runsTotal}`);
        break;
      case 'warning':
        tell({ kind: 'note', level: 'warning', message: event.message });
        break;
    }
  };
}

/** `dlbricks run` for whoever submits a manifest; its result is the same report. */
export const dlbricksEvaluation: Evaluation = {
  name: 'dlbricks',
  version: '0.1.0',
  settings: z.strictObject({}),

  async *run({ evaluation }, { agent, store, signal }) {
    const { manifest, models } = evaluation;
    const cut = cutOf({}, manifest);
    const protocol = protocolOf({}, evaluation.protocol);
    const precision = precisionOf({});
    const request = { models, ...cut, protocol, measureEndToEnd: manifest.measure_end_to_end, precision };
    const { threads } = cut.runOptions;
    const { cores } = await agent.system(cut.runOptions);
    if (threads > cores) {
      const message = `${threads} threads on ${cores} cores: latencies will vary more; ask for fewer`;
      yield { kind: 'note', level: 'warning', message };
    }
    const result = yield* whileTelling((tell) => {
      return evaluate(request, { agent, store, signal, onEvent: translate(tell) });
    });
    if (result.interrupted) throw new PlatformError('cancelled', 'interrupted; everything measured so far is kept');
    const report = reportOf(result, {
      ...cut,
      batch: manifest.batch_size,
      protocol,
      targetError: cut.cut === 'kernel' ? precision.targetError : undefined,
    });
    for (const { name, coverage, ...model } of report.models) {
      yield {
        kind: 'estimate',
        model: name,
        latencyMs: model.estimate_ms ?? undefined,
        lowMs: model.estimate_low_ms ?? undefined,
        highMs: model.estimate_high_ms ?? undefined,
        coverage,
      };
    }
    yield { kind: 'done', result: report, partial: report.models.some(({ missing }) => missing.length > 0) };
  },
};
