import { type Download, fetchedPath, pathWithin } from './fetched-files.js';
import type { Checksum, GraphFile } from './model.js';
import type { OlderModel } from './older-schema.js';
import { isUrl, parseZooName } from './reference.js';

// Source: c3sr/dlframework v1.3.4, framework/predictor: an archive is at base_url; any other file is at base_url
// followed by its own path.

export interface FilesOfModel {
  readonly model: GraphFile;
  readonly downloads: readonly Download[];
}

function joined(base: string, path: string): string {
  return base === '' || isUrl(path) ? path : `${base.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;
}

export function buildDownload(
  kind: 'graph' | 'weights' | 'labels',
  url: string,
  checksum: Checksum | undefined,
): Download | undefined {
  return isUrl(url) ? { kind, url, path: fetchedPath(url), checksum } : undefined;
}

function fromArchive(url: string, graph: string, checksum: Checksum | undefined): FilesOfModel {
  const path = fetchedPath(url);
  const folder = `${path}.files`;
  const archive: Download = { kind: 'archive', url, path, checksum, folder, graph };
  return { model: { graph_path: `${folder}/${graph}` }, downloads: [archive] };
}

export function locateFiles(older: OlderModel['model']): FilesOfModel {
  const { base_url: base = '', graph_path: path = '', graph_checksum: checksum } = older;
  if (parseZooName(path) !== undefined) return { model: { graph_path: path }, downloads: [] };
  const labels = buildDownload('labels', older.features_path ?? '', older.features_checksum);
  const member = pathWithin(path);
  if (older.is_archive === true && isUrl(base) && member !== undefined) {
    const { model, downloads } = fromArchive(base, member, checksum);
    return { model, downloads: [...downloads, ...(labels === undefined ? [] : [labels])] };
  }
  const graphAddress = path === '' ? (older.onnx_url ?? '') : joined(base, path);
  const weightsAddress = older.weights_path === undefined ? '' : joined(base, older.weights_path);
  const graph = buildDownload('graph', graphAddress, checksum);
  const weights = buildDownload('weights', weightsAddress, older.weights_checksum);
  const graph_path = graph?.path ?? (graphAddress === '' ? undefined : graphAddress);
  const downloads = [graph, weights, labels].filter((download) => download !== undefined);
  return { model: { graph_path, checksum: graph_path === undefined ? undefined : checksum }, downloads };
}
