function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Whether two names are the same framework's: `ONNX Runtime` and `onnxruntime` are. */
export function isSameFramework(one: string, other: string): boolean {
  return plain(one) === plain(other);
}
