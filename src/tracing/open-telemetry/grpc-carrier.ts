import type { Metadata } from '@grpc/grpc-js';
import type { TextMapGetter, TextMapSetter } from '@opentelemetry/api';

/** Reads trace context from gRPC metadata. */
export const metadataGetter: TextMapGetter<Metadata> = {
  get: (metadata, key) => metadata.get(key).map(String),
  keys: (metadata) => Object.keys(metadata.getMap()),
};

/** Writes trace context into gRPC metadata. */
export const metadataSetter: TextMapSetter<Metadata> = {
  set: (metadata, key, value) => metadata.set(key, value),
};
