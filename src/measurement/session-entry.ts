// Without the schemas of settings, which take a worker process a part of its start.
const ENTRY = /^([^=]+)=(.+)$/;

/** The key and the value of "session.disable_prepacking=1"; undefined for another text. */
export function sessionEntry(text: string): readonly [key: string, value: string] | undefined {
  const [, name, value] = ENTRY.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : [name, value];
}
