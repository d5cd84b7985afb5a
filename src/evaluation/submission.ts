import { setImmediate } from 'node:timers/promises';
import { PlatformError } from '../base/errors.js';
import { verifyContent } from '../manifest/checksum.js';
import { DISK, type ManifestFiles } from '../manifest/files.js';
import type { AgentChoice } from '../manifest/agents.js';
import type { ResolvedModel } from '../manifest/resolve-model.js';
import { MAX_MANIFEST_BYTES } from '../manifest/read-file.js';
import { shippedManifest } from '../manifest/shipped-manifest.js';
import type { Benchmark } from '../measurement/benchmark.js';
import { symbolicBenchmark } from '../measurement/symbolic-benchmark.js';
import { modelFromBenchmark, weightlessBenchmark } from '../measurement/weightless.js';
import type { Model } from '../onnx/model/model.js';
import { parseModel } from '../onnx/read/read-model.js';
import { ReadingBudget } from '../onnx/bytes/reading-budget.js';
import { MAX_INLINED_SIZE } from '../onnx/functions/inline-functions.js';
import { loadEvaluation, type LoadedEvaluation, type LoadEvaluationOptions } from '../registry/load-evaluation.js';
import type { UnusableModel } from '../registry/unusable-model.js';
import { buildZooModel } from '../zoo/zoo.js';

/** See proto/mlmodelscope/evaluation/v1/submission.proto. */
export interface Submission {
  readonly manifestPath: string;
  /** undefined for the file of a model whose graph is in `graphs` */
  readonly files: ReadonlyMap<string, Uint8Array | undefined>;
  readonly graphs: ReadonlyMap<string, Benchmark>;
  readonly unusable?: readonly UnusableModel[];
  readonly allowVersion?: boolean | undefined;
  readonly agents?: AgentChoice | undefined;
}

export interface LoadedSubmission {
  readonly loaded: LoadedEvaluation;
  readonly submission: Submission;
}

/**
 * Twenty times the bytes of a request, because decoded nodes take more memory, and twice the nodes and functions of one
 * model: a model that is too large by itself leaves enough for the others.
 */
const LIMITS = { structureBytes: 2 ** 31, nodes: 2 ** 20, inlinedSize: 2 * MAX_INLINED_SIZE };

const NOT_SUBMITTED = 'no such file in the submission';

function openFiles({ files }: Submission): ManifestFiles {
  return {
    read(path) {
      const bytes = files.get(path);
      if (bytes === undefined) return Promise.resolve({ ok: false, found: NOT_SUBMITTED });
      if (bytes.length <= MAX_MANIFEST_BYTES) return Promise.resolve({ ok: true, bytes });
      return Promise.resolve({ ok: false, found: `a file of ${bytes.length} bytes (at most ${MAX_MANIFEST_BYTES})` });
    },
    missing: (path) => Promise.resolve(files.has(path) ? undefined : NOT_SUBMITTED),
  };
}

/** It reads nothing from the disk. */
function findGraph(
  resolved: ResolvedModel,
  { files, graphs, unusable = [] }: Submission,
  budget: ReadingBudget,
): Model {
  const { name, source } = resolved;
  const known = unusable.find(({ name: of }) => of === name);
  if (known !== undefined) throw new PlatformError('model', known.reason);
  const graph = graphs.get(name);
  if (graph !== undefined)
    return modelFromBenchmark(graph, source.kind === 'file' ? source.path : `zoo:${source.name}`, budget);
  if (source.kind === 'zoo') return buildZooModel(source.name);
  const bytes = files.get(source.path);
  if (bytes === undefined) {
    throw new PlatformError('usage', `${source.path}: submitted without its content, and graphs has no ${name}`);
  }
  if (source.checksum !== undefined) verifyContent(source.path, source.checksum, bytes);
  return parseModel(bytes, source.path, budget);
}

/** Graphs keep the dimensions that files leave open; the manifests give their sizes. */
function encodeGraphs({ models }: LoadedEvaluation): ReadonlyMap<string, Benchmark> {
  return new Map(
    models.map(({ name, model, open }) => [
      name,
      open === undefined ? weightlessBenchmark(model) : symbolicBenchmark(model, open),
    ]),
  );
}

/**
 * A submission is untrusted. Where its models together exceed a limit, all of it is refused. A model that cannot be
 * used is left out, as long as another one can be used.
 *
 * @throws PlatformError `manifest`, `model` or `usage` with every problem
 */
export async function loadSubmission(
  submission: Submission,
  check?: LoadEvaluationOptions['check'],
): Promise<LoadedSubmission> {
  const budget = new ReadingBudget(LIMITS);
  const files = new Map(submission.files);
  const loaded = await loadEvaluation(submission.manifestPath, {
    files: openFiles(submission),
    allowVersion: submission.allowVersion,
    agents: submission.agents,
    ...(check === undefined ? {} : { check }),
    readGraph: async (resolved) => {
      await setImmediate();
      // Two models may share a file, so the new submission has their graphs instead.
      if (resolved.source.kind === 'file') files.set(resolved.source.path, undefined);
      return findGraph(resolved, submission, budget);
    },
  });
  return { loaded, submission: { ...submission, files, graphs: encodeGraphs(loaded), unusable: loaded.unusable } };
}

/** Manifests as they are, models without their weights. @throws PlatformError as {@link loadEvaluation} */
export async function submissionOf(
  named: string,
  options: Pick<LoadEvaluationOptions, 'signal' | 'onModel' | 'allowVersion' | 'check'> = {},
): Promise<LoadedSubmission> {
  const manifestPath = shippedManifest(named);
  const files = new Map<string, Uint8Array | undefined>();
  const recording: ManifestFiles = {
    async read(path) {
      const file = await DISK.read(path);
      if (file.ok) files.set(path, file.bytes);
      return file;
    },
    async missing(path) {
      const found = await DISK.missing(path);
      if (found === undefined) files.set(path, undefined);
      return found;
    },
  };
  const loaded = await loadEvaluation(manifestPath, { ...options, files: recording });
  const { allowVersion } = options;
  const submission = { manifestPath, files, graphs: encodeGraphs(loaded), unusable: loaded.unusable, allowVersion };
  return { loaded, submission };
}
