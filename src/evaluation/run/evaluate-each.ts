import { throwIfCancelled } from '../../base/cancellation.js';
import { isErrorCode, PlatformError } from '../../base/errors.js';
import { merged } from '../../base/merged.js';
import { buildProvenance } from '../../agent/provenance.js';
import { buildStack } from '../../measurement/system-document.js';
import type { Evaluation, EvaluationRequest } from '../evaluation.js';
import { checkPluginEvent, toFailure, MAX_RESULT_BYTES, note, type PluginEvent } from '../event.js';
import { type SystemResult, type SystemsResult, buildSystemsResult } from '../systems-result.js';
import { evaluateOn, type EvaluationPlace } from './evaluate-on.js';
import { JointProgress } from './joint-progress.js';
import { type MeasuringSystem, describeAgents } from './measuring-systems.js';

interface OnSystem {
  readonly system: MeasuringSystem;
  readonly event: PluginEvent;
}

type Ended = Pick<SystemResult, 'partial' | 'failure' | 'result'>;

function endedBy(event: PluginEvent): Ended | undefined {
  switch (event.kind) {
    case 'done':
      return { partial: event.partial, failure: null, result: JSON.parse(event.resultJson) as unknown };
    case 'failed':
      return { partial: true, failure: { code: event.code, message: event.message }, result: null };
    case 'cancelled':
      return { partial: true, failure: { code: 'cancelled', message: 'it was cancelled' }, result: null };
    default:
      return undefined;
  }
}

function withoutFeatures({ processor_features: _, ...stack }: ReturnType<typeof buildStack>) {
  return stack;
}

class SystemOutcome {
  readonly #estimates: SystemResult['estimates'] = [];
  #ended: Ended = { partial: true, failure: { code: 'internal', message: 'it ended without a result' }, result: null };

  constructor(readonly system: MeasuringSystem) {}

  take(event: PluginEvent): void {
    if (event.kind === 'estimate') {
      const { model, latencyMs = null, lowMs = null, highMs = null, coverage } = event;
      const percentiles = (event.percentiles ?? []).map(({ percentage, latencyMs: ofRuns = null, reason = null }) => {
        return { percentage, latency_ms: ofRuns, reason };
      });
      this.#estimates.push({ model, latency_ms: latencyMs, low_ms: lowMs, high_ms: highMs, coverage, percentiles });
    }
    this.#ended = endedBy(event) ?? this.#ended;
  }

  result(): SystemResult {
    const { name, machines, system } = this.system;
    return {
      name,
      fingerprint: system.fingerprint,
      ...withoutFeatures(buildStack(system)),
      threads: system.runOptions.threads,
      agents: machines.map((machine) => machine.name),
      estimates: this.#estimates,
      ...this.#ended,
    };
  }
}

/** Without the plugin's own documents where all of them together are too long. */
function withinLimit(result: SystemsResult): SystemsResult {
  if (JSON.stringify(result).length <= MAX_RESULT_BYTES) return result;
  return { ...result, systems: result.systems.map((system) => ({ ...system, result: null })) };
}

/** undefined where the system is done or cancelled */
function shown({ system, event }: OnSystem, progress: JointProgress): PluginEvent | undefined {
  const { name } = system;
  switch (event.kind) {
    case 'planned':
      return checkPluginEvent({ ...event, summary: `${name}: ${event.summary}` });
    case 'measuring':
      return progress.event(name, event);
    case 'estimate':
      return { ...event, system: name };
    case 'note':
      return note(event.level, `${name}: ${event.message}`);
    case 'failed':
      return note('warning', `${name}: ${event.message}`);
    case 'cancelled':
    case 'done':
      return undefined;
  }
}

/**
 * Systems are evaluated at the same time. Where one fails, its failure is a part of the document, which is then
 * partial.
 *
 * @throws PlatformError `cancelled`; where all systems fail, with the code of the first failure and all messages
 */
export async function* evaluateEach(
  evaluation: Evaluation,
  request: EvaluationRequest,
  systems: readonly MeasuringSystem[],
  { most, ...options }: EvaluationPlace & { readonly most: number },
): AsyncGenerator<PluginEvent> {
  for (const system of systems) yield note('info', describeAgents(system, most));
  const outcomes = new Map(systems.map((system) => [system, new SystemOutcome(system)]));
  async function* evaluatedOn(system: MeasuringSystem): AsyncGenerator<OnSystem> {
    try {
      for await (const event of evaluateOn(evaluation, request, system, options)) yield { system, event };
    } catch (error) {
      throwIfCancelled(options.signal);
      yield { system, event: toFailure(error) };
    }
  }
  const progress = new JointProgress();
  for await (const onSystem of merged(systems.map(evaluatedOn))) {
    outcomes.get(onSystem.system)?.take(onSystem.event);
    const event = shown(onSystem, progress);
    if (event !== undefined) yield event;
  }
  throwIfCancelled(options.signal);
  const results = [...outcomes.values()].map((outcome) => outcome.result());
  const failures = results.flatMap(({ name, failure }) => (failure === null ? [] : [{ name, ...failure }]));
  const [first] = failures;
  if (first !== undefined && failures.length === results.length) {
    const reasons = failures.map(({ name, message }) => `${name}: ${message}`);
    throw new PlatformError(isErrorCode(first.code) ? first.code : 'internal', reasons.join('\n'));
  }
  const { manifest, identities, models, unusable, protocol } = request.evaluation;
  const reasons = { host: 'systems', stack: 'systems', weights: 'results of the systems' };
  const names = [...models, ...unusable].map(({ name }) => name);
  const document = buildSystemsResult({
    evaluation: manifest.name,
    plugin: evaluation.name,
    provenance: buildProvenance({ identities, models, protocol, reasons }),
    models: names,
    systems: results,
  });
  const partial = results.some((result) => result.partial);
  yield checkPluginEvent({ kind: 'done', result: withinLimit(document), partial });
}
