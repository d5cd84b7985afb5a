import { type GenericFormatter, MultiBar, type SingleBar } from 'cli-progress';
import type { Progress } from '../evaluation/plugin.js';
import { progressLine, type ProgressState } from './progress-line.js';
import { printable, type Terminal } from './terminal.js';

/** Redrawing takes time from the measurement that runs beside it. */
const REDRAWS_PER_SECOND = 4;

/** Measurements that the time left is estimated from. */
const ETA_MEASUREMENTS = 50;

type Payload = Pick<ProgressState, 'title' | 'label' | 'within'>;

const format: GenericFormatter = (_options, { eta, value, total, maxWidth }, payload: Payload) => {
  // The library gives NULL or INF while the time is not known.
  const secondsLeft = Number.isFinite(eta) && value > 0 ? eta : undefined;
  return progressLine({ ...payload, done: value, total, secondsLeft }, maxWidth);
};

/** One bar on a terminal, gone when it is done. */
class Bars implements Progress {
  private drawn: { readonly bars: MultiBar; readonly bar: SingleBar } | undefined;

  constructor(private readonly terminal: Terminal) {}

  step(title: string, done: number, total: number, label: string): void {
    const payload: Payload = { title, label: printable(label), within: '' };
    const { bar } = (this.drawn ??= this.draw(total, done, payload));
    if (bar.getTotal() !== total) bar.start(total, done, payload);
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

  /** A process that ends in the middle leaves the user's cursor as it was. */
  private readonly onExit = (): void => this.stop();

  private draw(total: number, done: number, payload: Payload) {
    process.on('exit', this.onExit);
    const bars = new MultiBar({
      stream: this.terminal.errStream,
      hideCursor: true,
      clearOnComplete: true,
      // The command handles signals itself.
      gracefulExit: false,
      // The bar fits its line, and notes are shown whole.
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

/** Progress without a terminal or with --quiet: plain lines and no bar. */
class Lines implements Progress {
  constructor(
    private readonly terminal: Terminal,
    private readonly quiet: boolean,
  ) {}

  step(): void {}

  within(): void {}

  note(line: string): void {
    if (!this.quiet) this.terminal.err(line);
  }

  warn(line: string): void {
    this.terminal.err(line);
  }

  stop(): void {}
}

/** @param quiet shows nothing but warnings */
export function createProgress(terminal: Terminal, quiet: boolean): Progress {
  return terminal.isInteractive && !quiet ? new Bars(terminal) : new Lines(terminal, quiet);
}
