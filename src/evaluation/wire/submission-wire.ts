import { fromWireBenchmark, toWireBenchmark } from '../../agent/wire/benchmark-wire.js';
import { PlatformError } from '../../base/errors.js';
import * as wire from '../../generated/mlmodelscope/evaluation/v1/submission.js';
import { quoted } from '../../base/quoted.js';
import { type AgentChoice, PLACEMENTS } from '../../manifest/agents.js';
import { fromWireEnum, toWireEnum } from '../../rpc/wire-enum.js';
import type { Submission } from '../submission.js';

/** The evaluation, three manifests, and a thousand models' manifests, files and lock files. */
const MAX_FILES = 4 + 3 * 1000;
const MAX_GRAPHS = 1000;
const MAX_PATH = 1000;
const MAX_REASON = 4096;

function toWireAgents({ most, placement }: AgentChoice): wire.AgentChoice {
  return { most: most === Infinity ? 0 : most, placement: toWireEnum(wire.AgentChoice_Placement, placement) };
}

function fromWireAgents({ most, placement }: wire.AgentChoice): AgentChoice {
  const known = fromWireEnum(wire.AgentChoice_Placement, PLACEMENTS, placement);
  if (known === undefined) throw new PlatformError('usage', 'submission: agents.placement is not known here');
  return { most: most === 0 ? Infinity : most, placement: known };
}

export function toWireSubmission(submission: Submission): wire.Submission {
  const { manifestPath, files, graphs, unusable = [], allowVersion = false, agents } = submission;
  return {
    manifestPath,
    files: [...files].map(([path, data]) => ({ path, data })),
    graphs: [...graphs].map(([model, graph]) => ({ model, graph: toWireBenchmark(graph) })),
    unusable: unusable.map(({ name, reason }) => {
      return { model: name, reason: reason.length <= MAX_REASON ? reason : `${reason.slice(0, MAX_REASON - 1)}…` };
    }),
    allowVersion,
    agents: agents && toWireAgents(agents),
  };
}

function requireFew(count: number, most: number, what: string): void {
  if (count > most) throw new PlatformError('usage', `submission: ${count} ${what}, more than the limit of ${most}`);
}

function requirePath(path: string, what: string): void {
  if (path !== '' && path.length <= MAX_PATH) return;
  throw new PlatformError('usage', `submission: ${what}${quoted(path)} is no path of 1 to ${MAX_PATH} characters`);
}

/** @throws PlatformError `usage` */
export function fromWireSubmission(message: wire.Submission | undefined): Submission {
  if (message === undefined) throw new PlatformError('usage', 'submission: missing');
  requirePath(message.manifestPath, 'manifest_path ');
  requireFew(message.files.length, MAX_FILES, 'files');
  requireFew(message.graphs.length, MAX_GRAPHS, 'graphs');
  requireFew(message.unusable.length, MAX_GRAPHS, 'unusable models');
  const files = new Map<string, Uint8Array | undefined>();
  for (const { path, data } of message.files) {
    requirePath(path, '');
    if (files.has(path)) throw new PlatformError('usage', `submission: the file ${quoted(path)} occurs twice`);
    files.set(path, data);
  }
  const graphs = message.graphs.map(({ model, graph }) => [model, fromWireBenchmark(graph)] as const);
  const unusable = message.unusable.map(({ model, reason }) => {
    if (reason.length > MAX_REASON) {
      throw new PlatformError('usage', `submission: a reason has more than the limit of ${MAX_REASON} characters`);
    }
    return { name: model, reason };
  });
  const { manifestPath, allowVersion } = message;
  const agents = message.agents && fromWireAgents(message.agents);
  return { manifestPath, files, graphs: new Map(graphs), unusable, allowVersion, agents };
}

export function encodeSubmission(submission: Submission): Uint8Array {
  return wire.Submission.encode(toWireSubmission(submission)).finish();
}
