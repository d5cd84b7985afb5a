/**
 * Has to be loaded before the runtime opens its first model. Otherwise it reads the machine's id, keeps events in the
 * user's cache folder, and sends them to Microsoft. Any other value of the variable is replaced.
 *
 * Source: ONNX Runtime 1.30, onnxruntime/core/platform/posix/telemetry.cc.
 */
process.env['ORT_DISABLE_TELEMETRY'] = '1';
