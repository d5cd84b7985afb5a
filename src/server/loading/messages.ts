import type { ErrorCode } from '../../base/errors.js';
import type { Requirements } from '../../manifest/requirements.js';

export interface Described {
  readonly digest: string;
  readonly name: string;
  readonly plugin: string;
  readonly requirements: Requirements;
}

/** Whether graphs are wanted as well, and the JSON Schema of its plugin's manifests where that is known. */
export type Wanted = boolean | { readonly manifestSchemaJson: string };

/** To the thread: a submission in wire format, then whether its graphs are wanted as well. */
export type ToThread =
  { readonly kind: 'load'; readonly bytes: Uint8Array } | { readonly kind: 'graphs'; readonly wanted: Wanted };

/** From the thread: `described` comes first, and waits for an answer. Each of the others ends the loading. */
export type FromThread =
  | { readonly kind: 'described'; readonly described: Described }
  /** The submission with its models' graphs only, without weights; undefined if they were not wanted. */
  | { readonly kind: 'loaded'; readonly bytes: Uint8Array | undefined }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };
