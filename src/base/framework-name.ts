function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** `ONNX Runtime` and `onnxruntime` are the same. */
export function isSameFramework(one: string, other: string): boolean {
  return plain(one) === plain(other);
}
