import type { BenchmarkAgent } from '../../../../src/agent/benchmark-agent.js';
import type { CommandHost, Progress } from '../../../../src/evaluation/plugin.js';
import { readSizedModel } from '../../../../src/registry/load-model.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';

/** A host that records its output for a test. */
export interface RecordingHost extends CommandHost {
  readonly printed: string[];
  readonly warned: string[];
  readonly exitCode: number;
}

/** The platform as a plugin's command sees it: files are real, the agent is the given one, the store is in memory. */
export function recordingHost(agent: BenchmarkAgent): RecordingHost {
  const printed: string[] = [];
  const warned: string[] = [];
  const store = openMemoryStore();
  let exitCode = 0;
  const silent: Progress = {
    step: () => undefined,
    within: () => undefined,
    note: (line) => void warned.push(line),
    warn: (line) => void warned.push(line),
    stop: () => undefined,
  };
  return {
    printed,
    warned,
    get exitCode() {
      return exitCode;
    },
    signal: new AbortController().signal,
    color: false,
    print: (text) => void printed.push(text),
    warn: (line) => void warned.push(line),
    progress: () => silent,
    connect: () => Promise.resolve(agent),
    openStore: () => store,
    readModel: readSizedModel,
    setExitCode: (code) => void (exitCode = code),
  };
}
