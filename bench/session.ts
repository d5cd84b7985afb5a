import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { escapedMarkup } from '../src/base/markup.js';

// `make session`: runs commands with an empty store, and draws what they print as docs/session.svg.

const ROOT = join(import.meta.dirname, '..', '..');
const MAIN = join(ROOT, 'lib', 'src', 'bin', 'main.js');
const DRAWING = join(ROOT, 'docs', 'session.svg');

const COMMANDS = ['dlbricks run zoo:resnet18', 'dlbricks run zoo:resnet34'];

const COLUMNS = 96;

const CHARACTER = 7.83;
const LINE = 19;
const MARGIN = 16;

const STYLE = `<style>
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d1d7e0; white-space: pre; }
  .command { fill: #ffffff; font-weight: 600; }
</style>`;

/** What the command prints to its two outputs, in the order in which it prints. @throws Error where it fails */
function printed(command: string, dataFolder: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NO_COLOR: '1', XDG_DATA_HOME: dataFolder, XDG_CACHE_HOME: dataFolder };
    const child = spawn(process.execPath, [MAIN, ...command.split(' ')], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    }
    child.on('error', reject).on('close', (code) => {
      if (code === 0) resolve(text.trimEnd().split('\n'));
      else reject(new Error(`${command} ended with exit code ${code}:\n${text}`));
    });
  });
}

/** The line in parts of at most COLUMNS characters, parted at spaces. */
function wrapped(line: string): readonly string[] {
  return line.match(new RegExp(`.{1,${COLUMNS}}(?= |$)|.{1,${COLUMNS}}`, 'g'))?.map((part) => part.trimStart()) ?? [''];
}

/** A drawing of a terminal with these lines. A line that begins with `$ ` is a command. */
function drawing(lines: readonly string[]): string {
  const width = Math.ceil(Math.max(...lines.map(({ length }) => length)) * CHARACTER) + 2 * MARGIN;
  const height = lines.length * LINE + 2 * MARGIN;
  const texts = lines.map((line, index) => {
    const kind = line.startsWith('$ ') ? ' class="command"' : '';
    return `<text x="${MARGIN}" y="${MARGIN + (index + 0.75) * LINE}" xml:space="preserve"${kind}>${escapedMarkup(line)}</text>`;
  });
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  const screen = '<rect width="100%" height="100%" rx="8" fill="#151b23"/>';
  return [`<svg xmlns="http://www.w3.org/2000/svg" ${size}>`, STYLE, screen, ...texts, '</svg>', ''].join('\n');
}

const folder = await mkdtemp(join(tmpdir(), 'session-'));
try {
  const lines: string[] = [];
  for (const command of COMMANDS) {
    if (lines.length > 0) lines.push('');
    lines.push(`$ mlmodelscope ${command}`, ...(await printed(command, folder)).flatMap(wrapped));
  }
  await writeFile(DRAWING, drawing(lines));
} finally {
  await rm(folder, { recursive: true, force: true });
}
