import { type GenericFormatter, MultiBar, type SingleBar } from 'cli-progress';
import type { Progress } from '../evaluation/plugin.js';
import { progressLine, type ProgressState } from './progress-line.js';
import { printable, type Terminal } from './terminal.js';

/** Redrawing takes processor time from the measurement that runs at the same time. */
const REDRAWS_PER_SECOND = 4;

const ETA_MEASUREMENTS = 50;

/** The bar estimates the time left once this share of the steps is done. */
const ESTIMATING_SHARE = 0.25;

type Payload = Pick<ProgressState, 'title' | 'label' | 'within'> & {
  /** The end time that the step gives, by the monotonic clock; undefined where the bar estimates it, null where unknown. */
  readonly endMs: number | null | undefined;
};

const format: GenericFormatter = (_options, { eta, value, total, maxWidth }, payload: Payload) => {
  // The library gives NULL or INF while the time is not known.
  const estimated = Number.isFinite(eta) && value >= ESTIMATING_SHARE * total ? eta : undefined;
  const { endMs } = payload;
  const given = endMs == null ? undefined : Math.max(0, (endMs - performance.now()) / 1000);
  const secondsLeft = endMs === undefined ? estimated : given;
  return progressLine({ ...payload, done: value, total, secondsLeft }, maxWidth);
};

class Bars implements Progress {
  private drawn: { readonly bars: MultiBar; readonly bar: SingleBar } | undefined;
  private title = '';
  private done = 0;

  constructor(private readonly terminal: Terminal) {}

  step(title: string, done: number, total: number, label: string, secondsLeft?: number | null): void {
    const endMs = secondsLeft == null ? secondsLeft : performance.now() + secondsLeft * 1000;
    const payload: Payload = { title, label: printable(label), within: '', endMs };
    const { bar } = (this.drawn ??= this.draw(total, done, payload));
    // Another step has another count. The total of the same count may become smaller.
    if (title !== this.title || done < this.done) bar.start(total, done, payload);
    else if (bar.getTotal() !== total) bar.setTotal(total);
    this.title = title;
    this.done = done;
    bar.update(done, payload);
  }

  within(detail: string): void {
    const payload: Partial<Payload> = { within: printable(detail) };
    this.drawn?.bar.update(payload);
  }

  note(line: string): void {
    if (this.drawn === undefined) {
      this.terminal.err(line);
      return;
    }
    const { bars } = this.drawn;
    bars.log(`${printable(line)}\n`);
    // Drawn at once, so that the last state is shown before the bar disappears.
    bars.update();
  }

  warn(line: string): void {
    this.note(line);
  }

  stop(): void {
    this.drawn?.bars.stop();
    this.drawn = undefined;
    process.off('exit', this.onExit);
  }

  /** Shows the user's cursor again where the process ends while the bar is drawn. */
  private readonly onExit = (): void => this.stop();

  private draw(total: number, done: number, payload: Payload) {
    process.on('exit', this.onExit);
    const bars = new MultiBar({
      stream: this.terminal.errStream,
      hideCursor: true,
      clearOnComplete: true,
      // The command handles signals itself.
      gracefulExit: false,
      // The bar fits its line, and long notes are wrapped instead of cut off.
      linewrap: true,
      // A note moves the bar to another line.
      forceRedraw: true,
      fps: REDRAWS_PER_SECOND,
      etaBuffer: ETA_MEASUREMENTS,
      format,
    });
    return { bars, bar: bars.create(total, done, payload) };
  }
}

export const SILENT: Progress = { step: () => {}, within: () => {}, note: () => {}, warn: () => {}, stop: () => {} };

/** Without a terminal or with `quiet`: plain lines and no bar. */
export function createProgress(terminal: Terminal, quiet: boolean): Progress {
  if (terminal.isInteractive && !quiet) return new Bars(terminal);
  const warn = (line: string): void => terminal.err(line);
  return { ...SILENT, warn, ...(!quiet && { note: warn }) };
}
