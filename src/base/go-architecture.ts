/** Go's names of architectures that differ from those of Node.js. Source: Go's `go tool dist list`. */
const GO_ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['ia32', '386'],
  // Node.js has no separate name for little-endian machines. Linux on POWER is always little-endian.
  ['ppc64', 'ppc64le'],
  ['mipsel', 'mipsle'],
]);

/** x64 is amd64. */
export function goArchitecture(architecture: string): string {
  return GO_ARCHITECTURES.get(architecture) ?? architecture;
}
