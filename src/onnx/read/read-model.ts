import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, PlatformError } from '../../base/errors.js';
import { runAtOnce, runInTurns } from '../../base/steps.js';
import { ModelProto } from '../../generated/onnx/onnx.js';
import { bufferSource, type ByteSource, FileSource } from '../bytes/byte-source.js';
import { ExternalData, type OwnValues } from './external-data.js';
import { externalTensorIn } from '../bytes/external-tensor.js';
import type { Model } from '../model/model.js';
import { modelFromProto } from './model-from-proto.js';
import { budgetOfOne, type ReadingBudget } from '../bytes/reading-budget.js';
import { stripPayloads } from '../bytes/strip-payloads.js';
import { TensorReader } from './tensor-reader.js';

/**
 * Weights stay in their files: time and memory depend on the graph alone. Functions are inlined, `Constant` nodes are
 * initializers, nodes are in topological order, and parts that no output depends on are left out.
 *
 * @throws PlatformError 'model' for an unreadable, damaged or unsupported file; names the place, and what to do
 */
export async function readModel(
  path: string,
  { ownValues, signal }: { readonly ownValues?: OwnValues; readonly signal?: AbortSignal | undefined } = {},
): Promise<Model> {
  // Not blocking, because opening a pipe without a writer would otherwise wait before the check for a regular file.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch((error: unknown) => {
    throw cannotBeRead(path, error);
  });
  const external = new ExternalData(path, path, ownValues);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) {
      const kind = stats.isDirectory() ? 'a folder' : 'a device or pipe';
      throw new PlatformError('model', `${path} is ${kind}, not an ONNX file. Name an ONNX file.`);
    }
    const source = new FileSource(path, resolve(path), file.fd, stats.size);
    const budget = budgetOfOne();
    const steps = modelFromProto(decode(source, budget), new TensorReader(source, external), budget);
    return await runInTurns(steps, signal);
  } catch (error) {
    throw cannotBeRead(path, error);
  } finally {
    external.close();
    await file.close();
  }
}

/** Rephrases the operating system's errors, and returns all other errors as they are. */
function cannotBeRead(path: string, error: unknown): unknown {
  if (error instanceof PlatformError || !(error instanceof Error) || !('code' in error)) return error;
  const problem = error.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${error.message}`;
  return new PlatformError('model', `${path} ${problem}. Name an ONNX file.`, { cause: error });
}

/**
 * As {@link readModel}, from memory that tensors share. It is untrusted and must not have external data, even unused.
 *
 * @param source its name in messages @param budget of all models of the same request
 */
export function parseModel(bytes: Uint8Array, source: string, budget = budgetOfOne()): Model {
  const buffer = bufferSource(source, bytes);
  const proto = decode(buffer, budget);
  const place = externalTensorIn(proto);
  if (place !== undefined) {
    const problem = `the values of a tensor are in an external file (${place})`;
    const advice = 'Read the model from its file, with the external data beside it.';
    throw new PlatformError('model', `${source}: ${problem}. ${advice}`);
  }
  return runAtOnce(modelFromProto(proto, new TensorReader(buffer, undefined), budget));
}

function decode(source: ByteSource, budget: ReadingBudget): ModelProto {
  const stripped = stripPayloads(source, budget);
  try {
    return ModelProto.decode(stripped);
  } catch (error) {
    const problem = `${source.name} is not a readable ONNX file: ${messageOf(error)}`;
    throw new PlatformError('model', `${problem}. Copy, download or export it again.`, { cause: error });
  }
}
