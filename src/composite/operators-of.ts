import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { messageOf, PlatformError } from '../base/errors.js';
import { domainOf } from '../onnx/model/opsets.js';

/** The operators of a graph, read from its file without the rest of it. */
export interface Operators {
  /** Version by domain; '' is ai.onnx. */
  readonly opsets: ReadonlyMap<string, number>;
  /** Operators of ai.onnx, each once, those of subgraphs too. */
  readonly standard: ReadonlySet<string>;
  /** Nodes of the graph itself. */
  readonly nodes: number;
  /** Names of the values from which nodes read only the parts that they look up; see {@link GATHERING}. */
  readonly gathered: ReadonlySet<string>;
}

/** Operators of ai.onnx that read only as many bytes of their first input as they write, however large the input is. */
export const GATHERING: ReadonlySet<string> = new Set(['Gather', 'GatherElements', 'GatherND']);

// Field numbers of onnx.proto.
const MODEL = { graph: 7, opsetImport: 8 } as const;
const OPSET = { domain: 1, version: 2 } as const;
const GRAPH = { node: 1 } as const;
const NODE = { input: 1, opType: 4, attribute: 5, domain: 7 } as const;
const ATTRIBUTE = { graph: 6, graphs: 11 } as const;

/** Levels of nested subgraphs; no graph that a runtime accepts is deeper. */
const MOST_DEPTH = 64;

/** Reads the operators of one file. */
class OperatorReader {
  readonly opsets = new Map<string, number>();
  readonly standard = new Set<string>();
  readonly #lookedUp = new Set<string>();
  readonly #readWhole = new Set<string>();
  readonly #reader: BinaryReader;

  constructor(private readonly bytes: Uint8Array) {
    this.#reader = new BinaryReader(bytes);
  }

  get gathered(): ReadonlySet<string> {
    return new Set([...this.#lookedUp].filter((name) => !this.#readWhole.has(name)));
  }

  /** @returns nodes of the graph itself */
  readModel(): number {
    let nodes = 0;
    this.#eachField(this.bytes.length, (field, end) => {
      if (field === MODEL.graph) nodes += this.#readGraph(end, 0);
      else if (field === MODEL.opsetImport) this.#readOpset(end);
    });
    return nodes;
  }

  /** Calls `visit` at every length-delimited field of a message; bytes that it leaves unread are skipped. */
  #eachField(end: number, visit: (field: number, end: number) => void): void {
    const reader = this.#reader;
    while (reader.pos < end) {
      const [field, type] = reader.tag();
      if (type !== WireType.LengthDelimited) {
        reader.skip(type, field);
        continue;
      }
      const fieldEnd = reader.uint32() + reader.pos;
      if (fieldEnd > end) throw new RangeError('a field ends after the message around it');
      visit(field, fieldEnd);
      reader.pos = fieldEnd;
    }
  }

  #textTo(end: number): string {
    return Buffer.from(this.bytes.subarray(this.#reader.pos, end)).toString('utf8');
  }

  #readOpset(end: number): void {
    const reader = this.#reader;
    let domain = '';
    let version = 0;
    while (reader.pos < end) {
      const [field, type] = reader.tag();
      if (field === OPSET.domain && type === WireType.LengthDelimited) domain = reader.string();
      else if (field === OPSET.version && type === WireType.Varint) version = Number(reader.int64());
      else reader.skip(type, field);
    }
    this.opsets.set(domainOf(domain), version);
  }

  #readGraph(end: number, depth: number): number {
    let nodes = 0;
    this.#eachField(end, (field, nodeEnd) => {
      if (field !== GRAPH.node) return;
      nodes++;
      this.#readNode(nodeEnd, depth);
    });
    return nodes;
  }

  #readNode(end: number, depth: number): void {
    const inputs: string[] = [];
    let opType = '';
    let domain = '';
    this.#eachField(end, (field, fieldEnd) => {
      if (field === NODE.input) inputs.push(this.#textTo(fieldEnd));
      else if (field === NODE.opType) opType = this.#textTo(fieldEnd);
      else if (field === NODE.domain) domain = this.#textTo(fieldEnd);
      else if (field === NODE.attribute && depth < MOST_DEPTH) {
        this.#eachField(fieldEnd, (attribute, attributeEnd) => {
          if (attribute === ATTRIBUTE.graph || attribute === ATTRIBUTE.graphs) this.#readGraph(attributeEnd, depth + 1);
        });
      }
    });
    const isStandard = domainOf(domain) === '';
    if (isStandard) this.standard.add(opType);
    for (const [at, name] of inputs.entries()) {
      const isLookedUp = at === 0 && isStandard && GATHERING.has(opType);
      (isLookedUp ? this.#lookedUp : this.#readWhole).add(name);
    }
  }
}

/**
 * Reads the operators of an ONNX file. It takes microseconds; parsing the file takes milliseconds.
 *
 * @throws PlatformError `usage` where the file is not ONNX
 */
export function operatorsOf(model: Uint8Array): Operators {
  const reader = new OperatorReader(model);
  try {
    const nodes = reader.readModel();
    return { opsets: reader.opsets, standard: reader.standard, nodes, gathered: reader.gathered };
  } catch (cause) {
    throw new PlatformError('usage', `the model of a brick is not an ONNX file (${messageOf(cause)})`, { cause });
  }
}
