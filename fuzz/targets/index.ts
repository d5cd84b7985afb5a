import { httpBody } from './http-body.js';
import { manifest } from './manifest.js';
import { npy } from './npy.js';
import { onnx } from './onnx.js';
import { queueMessage } from './queue-message.js';
import { recipe } from './recipe.js';
import { request } from './request.js';
import { results } from './results.js';
import { store } from './store.js';
import { suite } from './suite.js';
import type { Target } from './target.js';
import { trace } from './trace.js';
import { workMessage } from './work-message.js';

/** All readers of input from outside. */
export const TARGETS: readonly Target[] = [
  onnx,
  manifest,
  trace,
  suite,
  recipe,
  results,
  request,
  httpBody,
  npy,
  store,
  workMessage,
  queueMessage,
];
