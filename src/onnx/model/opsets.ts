import type { NodeProto, OperatorSetIdProto } from '../../generated/onnx/onnx.js';
import { PlatformError } from '../../base/errors.js';
import { quoted } from '../../base/quoted.js';
import { listSubgraphs } from './subgraphs.js';

/**
 * By domain ('' is ai.onnx). The newest are those that onnxruntime 1.30 loads (test/onnx/opsets.test.ts asks it); below
 * 7 it guarantees nothing, and has kernels for only some operators. Domains not listed are left to the runtime.
 */
export const SUPPORTED_OPSETS: ReadonlyMap<string, { readonly oldest: number; readonly newest: number }> = new Map([
  ['', { oldest: 1, newest: 26 }],
  ['ai.onnx.ml', { oldest: 1, newest: 5 }],
  ['com.microsoft', { oldest: 1, newest: 1 }],
]);

/** The newest version of the file format itself that onnxruntime 1.30 loads (same test). */
export const NEWEST_IR_VERSION = 13;

/** 'ai.onnx' is another name of ''. */
export function normalizeDomain(domain: string): string {
  return domain === 'ai.onnx' ? '' : domain;
}

/** Whether it is an operator of ONNX itself. */
export function isStandard({ domain }: { readonly domain: string }): boolean {
  return normalizeDomain(domain) === '';
}

export function domainLabel(domain: string): string {
  return domain === '' ? 'ai.onnx' : quoted(domain);
}

/** @throws PlatformError 'model' where a domain has two versions */
export function importedOpsets(imports: readonly OperatorSetIdProto[], owner: string): Map<string, number> {
  const opsets = new Map<string, number>();
  for (const { domain: alias, version } of imports) {
    const domain = normalizeDomain(alias);
    const before = opsets.get(domain) ?? Number(version);
    if (before !== Number(version)) {
      const both = `${before} and ${version}`;
      throw new PlatformError('model', `${owner} imports ${domainLabel(domain)} in versions ${both}. Export it again.`);
    }
    opsets.set(domain, Number(version));
  }
  return opsets;
}

function domainsIn(nodes: readonly NodeProto[], found = new Set<string>()): ReadonlySet<string> {
  for (const node of nodes) {
    found.add(normalizeDomain(node.domain));
    for (const subgraph of listSubgraphs(node.attribute)) domainsIn(subgraph.node, found);
  }
  return found;
}

/** @throws PlatformError 'model' where a domain has no version, or a version that the runtime does not support */
export function opsetsInUse(
  imports: ReadonlyMap<string, number>,
  nodes: readonly NodeProto[],
  source: string,
): ReadonlyMap<string, number> {
  const used = domainsIn(nodes);
  for (const domain of used) {
    if (imports.has(domain)) continue;
    const problem = `uses operators of ${domainLabel(domain)} without stating their version`;
    throw new PlatformError('model', `${source} ${problem}. Add it to opset_import, or export the model again.`);
  }
  const opsets = new Map([...imports].filter(([domain]) => domain === '' || used.has(domain)));
  for (const [domain, version] of opsets) checkOpset(domain, version, source);
  return opsets;
}

function checkOpset(domain: string, version: number, source: string): void {
  const supported = SUPPORTED_OPSETS.get(domain);
  if (supported === undefined || (version >= supported.oldest && version <= supported.newest)) return;
  const problem = version > supported.newest ? 'newer' : 'older';
  throw new PlatformError(
    'model',
    `${source}: opset ${version} of ${domainLabel(domain)} is ${problem} than the supported ones ` +
      `(${supported.oldest} to ${supported.newest}). Convert the model with onnx.version_converter, or export it again.`,
  );
}

/** @throws PlatformError 'model' where the runtime does not support it */
export function checkedIrVersion(irVersion: bigint, source: string): number {
  if (irVersion <= NEWEST_IR_VERSION) return Number(irVersion);
  throw new PlatformError(
    'model',
    `${source}: ONNX IR version ${irVersion} is newer than the supported ones (up to ${NEWEST_IR_VERSION}). ` +
      'Export the model with an older version of the exporter.',
  );
}
