import type { Metadata } from '@grpc/grpc-js';
import type { TextMapGetter, TextMapSetter } from '@opentelemetry/api';

export const metadataGetter: TextMapGetter<Metadata> = {
  get: (metadata, key) => metadata.get(key).map(String),
  keys: (metadata) => Object.keys(metadata.getMap()),
};

export const metadataSetter: TextMapSetter<Metadata> = {
  set: (metadata, key, value) => metadata.set(key, value),
};
