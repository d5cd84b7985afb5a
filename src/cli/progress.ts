import { MultiBar, type SingleBar } from 'cli-progress';
import type { Progress } from '../evaluation/plugin.js';
import { printable, type Terminal } from './terminal.js';

const LABEL_WIDTH = 44;

function fit(label: string): string {
  const text = printable(label);
  return text.length > LABEL_WIDTH ? `${text.slice(0, LABEL_WIDTH - 1)}…` : text;
}

/** One bar on a terminal, gone when it is done. */
class Bars implements Progress {
  private readonly bars: MultiBar;
  private bar: SingleBar | undefined;

  constructor(private readonly terminal: Terminal) {
    this.bars = new MultiBar({
      stream: terminal.errStream,
      hideCursor: true,
      clearOnComplete: true,
      // The command handles signals itself.
      gracefulExit: false,
      // Redrawing takes time from the measurement that runs beside it.
      fps: 4,
      etaBuffer: 50,
      barsize: 24,
      format: '{title} {bar} {value}/{total}  {eta_formatted} left  {label} {within}',
    });
  }

  step(title: string, done: number, total: number, label: string): void {
    const payload = { title, label: fit(label), within: '' };
    if (this.bar === undefined) this.bar = this.bars.create(total, done, payload);
    else {
      if (this.bar.getTotal() !== total) this.bar.start(total, done, payload);
      this.bar.update(done, payload);
    }
  }

  within(done: number, total: number): void {
    this.bar?.update({ within: `(run ${done} of ${total})` });
  }

  note(line: string): void {
    if (this.bar === undefined) this.terminal.err(line);
    else this.bars.log(`${printable(line)}\n`);
  }

  warn(line: string): void {
    this.note(line);
  }

  stop(): void {
    this.bars.stop();
  }
}

/** Where there is no terminal, or quiet is asked for: lines that stay, nothing that moves. */
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
