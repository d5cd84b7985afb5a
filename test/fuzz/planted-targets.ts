import { PlatformError } from '../../src/base/errors.js';
import { mutateMessage } from '../../fuzz/mutate/message.js';
import { mutateJson } from '../../fuzz/mutate/document.js';
import { mutateText } from '../../fuzz/mutate/text.js';
import { readOrRefused, type Target } from '../../fuzz/targets/target.js';
import { ModelProto } from '../../src/generated/onnx/onnx.js';
import { graph, graphAttribute, model, node } from '../onnx/protos.js';

// Readers with one planted bug each, of kinds that were found in real readers.

const DOCUMENT = JSON.stringify({ items: [{ name: 'Relu', count: 2, inner: { deep: [1] } }], last: 3 });

interface Document {
  readonly items: readonly { readonly name: string; readonly count: number }[];
  readonly last: number;
}

const OPERATORS: Readonly<Record<string, readonly string[]>> = { Relu: ['x'], Add: ['x', 'y'] };

/** A target that refuses each text that is no JSON. @param read reads a document, with its bug */
function jsonReader(name: string, read: (document: Document, text: string) => void): Target {
  return {
    name,
    seeds: () => Promise.resolve([Buffer.from(DOCUMENT)]),
    mutate(input, random) {
      const text = Buffer.from(input).toString();
      return Buffer.from(mutateJson(text, random) ?? mutateText(text, random));
    },
    check(input) {
      const text = Buffer.from(input).toString();
      let document: unknown;
      try {
        document = JSON.parse(text);
      } catch {
        return Promise.resolve('refused');
      }
      return readOrRefused(() => read(document as Document, text), 'file');
    },
  };
}

function refuse(message: string): never {
  throw new PlatformError('usage', message);
}

function itemsOf({ items }: Document): Document['items'] {
  if (!Array.isArray(items)) return refuse('file: no items');
  return (items as readonly unknown[]).filter((item): item is Document['items'][number] => {
    return typeof item === 'object' && item !== null && 'name' in item && typeof item.name === 'string';
  });
}

/** Bug: looks up a name from a file in an ordinary object. */
const inherits = jsonReader('inherits', (document) => {
  for (const { name } of itemsOf(document ?? {})) {
    if (OPERATORS[name]?.includes('x') === undefined) refuse('file: unknown');
  }
});

/** Bug: refuses without naming the file. */
const blames = jsonReader('blames', (document) => {
  if (typeof document?.last !== 'number') refuse('something is wrong');
});

/** Bug: allocates as much as a number in the file says. */
const swallows = jsonReader('swallows', (document) => {
  const last = Number(document?.last);
  if (!(last < 2 ** 32)) refuse('file: last');
  const made: number[][] = [];
  for (let i = 0; i < last; i++) made.push(new Array<number>(1000).fill(i));
});

/** Bug: takes quadratic time from 500 items on, several times the limit; with fewer items it is far below the limit. */
const crawls = jsonReader('crawls', (document) => {
  const items = itemsOf(document ?? {});
  const looks = items.length * (items.length < 500 ? 1 : 20_000);
  let steps = 0;
  for (let i = 0; i < items.length; i++) for (let j = 0; j < looks; j++) steps += j;
  if (steps < 0) refuse('file: steps');
});

/** Bug: takes eight times as long for each level of subgraphs. */
function visit(
  nodes: readonly { readonly attribute: readonly { readonly g?: { readonly node: typeof nodes } | undefined }[] }[],
): void {
  for (const { attribute } of nodes) {
    for (const { g } of attribute) {
      if (g === undefined) continue;
      for (let i = 0; i < 8; i++) visit(g.node);
    }
  }
}

const hangs: Target = {
  name: 'hangs',
  seeds() {
    const branch = graph({ node: [node('Relu', ['x'], ['y'])] });
    return Promise.resolve([model({ node: [node('If', ['c'], ['y'], [graphAttribute('then_branch', branch)])] })]);
  },
  mutate: mutateMessage,
  check(input) {
    return readOrRefused(() => {
      let decoded: ModelProto;
      try {
        decoded = ModelProto.decode(input);
      } catch {
        return refuse('file: damaged');
      }
      visit(decoded.graph?.node ?? []);
    }, 'file');
  },
};

/** Name of the only target that the module's address asks for; null for all. */
const only = new URL(import.meta.url).searchParams.get('only');

export const TARGETS: readonly Target[] = [inherits, blames, swallows, crawls, hangs].filter(({ name }) => {
  return only === null || name === only;
});
