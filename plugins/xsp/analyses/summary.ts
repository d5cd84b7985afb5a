import { groupedBy, inPercent, PlatformError, sumOf } from '../../../src/plugin-api.js';
import { type Row, text, xspAnalysis } from '../analysis.js';
import { type Kernel, type Trace } from '../traces.js';
import { computeRoof } from '../work.js';
import { computeParts } from './gaps.js';

const TYPES = 5;
const KERNELS = 3;

function findSlowest(kernels: readonly Kernel[], count: number): readonly Kernel[] {
  return kernels.toSorted((a, b) => b.ms - a.ms).slice(0, count);
}

function typesText({ kernels, kernelsMs }: Trace): string {
  const groups = [...groupedBy(kernels, ({ layer }) => layer.operator)]
    .map(([type, of]) => ({ type, ms: sumOf(of.map((one) => one.ms)), count: of.length }))
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, TYPES);
  return groups.map(({ type, ms, count }) => `${type} ${inPercent(ms / kernelsMs)} (${count})`).join(', ');
}

function boundText({ kernels, kernelsMs }: Trace): string {
  const shareOf = (which: boolean | null): number =>
    sumOf(kernels.filter(({ memoryBound }) => memoryBound === which).map(({ ms }) => ms)) / kernelsMs;
  const unknown = shareOf(null);
  if (unknown === 1) return "not known: 'mlmodelscope machine' measures the peaks; or no kernel has a count";
  return `memory ${inPercent(shareOf(true))}, arithmetic ${inPercent(shareOf(false))}, not known ${inPercent(unknown)}`;
}

function kernelText(kernel: Kernel, trace: Trace): string {
  const { percent: share, remark } = computeRoof(kernel, trace);
  const ofRoof = share !== null ? `, ${share.toFixed(0)} % of its roof${remark === '' ? '' : ` (${remark})`}` : '';
  return `${kernel.layer.operator} ${kernel.layer.name} ${kernel.shape}: ${kernel.ms.toFixed(3)} ms, ${inPercent(kernel.ms / trace.kernelsMs)}${ofRoof}`;
}

function memoryText({ kernels }: Trace): string {
  const stated = kernels.flatMap(({ layer }) => {
    const bytes = layer.memory?.requestedBytes;
    return bytes === undefined ? [] : [{ bytes, layer }];
  });
  const [first, ...others] = stated;
  if (first === undefined) return 'not known: the profile does not state memory';
  const most = others.reduce((a, b) => (b.bytes > a.bytes ? b : a), first);
  return `${most.bytes.toLocaleString('en-US')} bytes after ${most.layer.operator} ${most.layer.name}, beside the model's inputs and weights outside of the arena`;
}

function buildRows(trace: Trace): readonly Row[] {
  const { modelMs, tracedMs, kernelsMs, kernels } = trace;
  const [, waiting, handing, gap] = computeParts(trace);
  const whole = modelMs ?? tracedMs;
  const tracing =
    modelMs === undefined || tracedMs === undefined
      ? 'not known: the trace has no runs without the profile'
      : tracedMs <= modelMs
        ? `not seen: runs differ by more than it (by ${(modelMs - tracedMs).toFixed(3)} ms)`
        : `${(tracedMs - modelMs).toFixed(3)} ms (${inPercent(tracedMs / modelMs - 1)})`;
  const between =
    gap?.ms == null || tracedMs === undefined
      ? 'not known'
      : `${gap.ms.toFixed(3)} ms, ${inPercent(gap.ms / tracedMs)}`;
  const waited = (waiting?.ms ?? 0) + (handing?.ms ?? 0);
  const lines: readonly (readonly [string, string])[] = [
    [
      'model',
      whole === undefined ? 'not known' : `${whole.toFixed(3)} ms${modelMs === undefined ? ', with the profile' : ''}`,
    ],
    ['kernels', `${kernels.length}, together ${kernelsMs.toFixed(3)} ms as the profile times them`],
    ['types', typesText(trace)],
    ['bound by', boundText(trace)],
    ['waiting in kernels', `${waited.toFixed(3)} ms, ${inPercent(waited / kernelsMs)}`],
    ['between kernels', between],
    ...findSlowest(kernels, KERNELS).map((kernel, at) => [`kernel ${at + 1}`, kernelText(kernel, trace)] as const),
    ['most memory', memoryText(trace)],
    ['cost of tracing', tracing],
  ];
  return lines.map(([what, found]) => ({ what, found }));
}

export const summary = xspAnalysis({
  name: 'summary',
  description: 'where the time of a model is, and what bounds it, in about ten lines',
  level: 'SYSTEM_LIBRARY_TRACE',
  columns: [text('what'), text('found')],
  rowsOf: (trace) => {
    if (trace.kernelsMs === 0) {
      throw new PlatformError('usage', `the trace of ${trace.stored.model} has no times of kernels; trace it again`);
    }
    return buildRows(trace);
  },
});
