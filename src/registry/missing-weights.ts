import { dirname } from 'node:path';
import { counted } from '../base/counted.js';
import { PlatformError } from '../base/errors.js';
import { quoted } from '../base/quoted.js';
import type { Model } from '../onnx/model/model.js';
import { listed } from '../onnx/model/node-label.js';
import type { MissingConstants } from '../onnx/operators/steering.js';

function places(files: ReadonlySet<string>, source: string): string {
  const missing = [...files].filter((file) => file !== '').map((file) => quoted(file));
  return missing.length === 0
    ? `${source} has no values for them`
    : `${listed(missing)} is missing from ${dirname(source)}`;
}

/** @throws PlatformError `model` where the values decide sizes: made-up ones would make another graph */
export function missingSentence({ all, files, sizing, steering }: MissingConstants, { source, graph }: Model): string {
  const place = places(files, source);
  const names = (list: readonly string[]): string => listed(list.map((name) => quoted(name)));
  const remedy =
    'Put the file with the values there, or export the model with its small constants in the model itself ' +
    '(`size_threshold=1024` of `onnx.save`)';
  if (sizing.length > 0) {
    const problem = `sizes in the graph depend on the values of ${names(sizing)}, and ${place}`;
    throw new PlatformError('model', `${source}: ${problem}. ${remedy}.`);
  }
  const many = `${all.length} of ${counted(graph.initializers.size, 'constant')}`;
  const note = `the values of ${many} are made up, because ${place}; latency does not depend on values of weights`;
  if (steering.length === 0) return note;
  return `${note}, but the choice of kernels may depend on ${names(steering)}. ${remedy}`;
}
