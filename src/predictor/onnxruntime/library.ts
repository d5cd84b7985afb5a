// Only this file loads ONNX Runtime, so that its telemetry is always off; a lint rule enforces this.
import './no-telemetry.js';
import { createRequire } from 'node:module';
import type * as OnnxRuntime from 'onnxruntime-node';
import { CHOSEN_PACKAGE } from './framework.js';

const { InferenceSession, Tensor } = createRequire(import.meta.url)(
  process.env[CHOSEN_PACKAGE] ?? 'onnxruntime-node',
) as typeof OnnxRuntime;

type InferenceSession = OnnxRuntime.InferenceSession;
type Tensor = OnnxRuntime.Tensor;

export { InferenceSession, Tensor };
