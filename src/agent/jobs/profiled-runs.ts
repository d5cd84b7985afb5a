import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import type { Protocol } from '../../measurement/protocol.js';
import type { Predictor, ProfiledModel } from '../../predictor/predictor.js';
import type { ProfiledKernel, ProfiledRun } from '../../predictor/profile.js';
import { noProfile } from '../failure.js';
import { orOfMachine } from '../machine-failure.js';
import type { MeasureContext } from './measure-benchmark.js';
import { type OpenBenchmark, openBenchmark, type OpenBenchmarkRequest } from './open-benchmark.js';
import { type TimedRuns, timeRuns } from './timed-runs.js';

export interface ProfiledRuns extends TimedRuns {
  readonly profile: readonly ProfiledRun[];
}

export type OpenProfiled = Awaited<ReturnType<typeof openProfiled>>;

function withProfile(predictor: Predictor, folder: string, onOpen: (model: ProfiledModel) => void): Predictor {
  return {
    ...predictor,
    async open(source, runOptions) {
      if (predictor.openProfiled === undefined) throw noProfile(predictor.framework);
      const model = await predictor.openProfiled(source, runOptions, folder);
      onOpen(model);
      return model;
    },
  };
}

/** With the first run's memory: there the runtime asks for each value; later runs take one piece for all of them. */
function withFirstRunMemory(first: ProfiledRun | undefined, run: ProfiledRun): ProfiledRun {
  const of = (kernels: readonly ProfiledKernel[], before: readonly ProfiledKernel[] = []): readonly ProfiledKernel[] =>
    kernels.map((kernel, at) => {
      const same = before[at]?.name === kernel.name ? before[at] : undefined;
      return { ...kernel, memory: same?.memory, inner: of(kernel.inner, same?.inner) };
    });
  return { ...run, kernels: of(run.kernels, first?.kernels) };
}

export async function openProfiled(request: OpenBenchmarkRequest, context: MeasureContext) {
  const { predictor } = context;
  const folder = join(context.temporaryFolder, 'profile');
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  let model: ProfiledModel | undefined;
  let open: OpenBenchmark;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const profiling = withProfile(predictor, folder, (opened) => (model = opened));
    open = await openBenchmark(request, { ...context, predictor: profiling });
  } catch (error) {
    const thrown = orOfMachine(error);
    removeFolder();
    throw thrown;
  }
  const { threads } = request.runOptions;
  return {
    /** Further runs of the same session, after `run` has ended the profile. */
    runWithout: (protocol: Protocol): Promise<TimedRuns> => timeRuns(open, { ...protocol, threads }, context),

    /** Once only: it ends the profile. @throws PlatformError `unsupported` where the profile does not hold every run */
    async run(protocol: Protocol): Promise<ProfiledRuns> {
      const timed = await timeRuns(open, { ...protocol, threads }, context);
      const profiled = (await model?.profile()) ?? [];
      const expected = timed.warmups.length + timed.taken;
      if (profiled.length !== expected) {
        const { name, version } = predictor.framework;
        const problem = `${name} ${version} kept a profile of ${counted(profiled.length, 'run')} out of ${expected}`;
        throw new PlatformError('unsupported', `${problem}; ask for fewer runs`);
      }
      const runs = timed.indices.flatMap((index) => profiled[timed.warmups.length + index] ?? []);
      const profile = runs.map((one) => withFirstRunMemory(profiled[0], one));
      return { ...timed, profile };
    },

    async close(): Promise<void> {
      await open.close();
      removeFolder();
    },
  };
}
