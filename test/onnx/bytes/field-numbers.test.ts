import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FIELDS, type MessageName } from '../../../src/onnx/bytes/field-numbers.js';

/** The field numbers of each message of a .proto file, by the field names of the generated code. */
function fieldsIn(proto: string): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const messages: Record<string, Record<string, number>> = {};
  // Blocks that are open: messages by their names, others (oneof, enum) as undefined.
  const open: (string | undefined)[] = [];
  for (const line of proto.replace(/\/\/.*/g, '').split('\n')) {
    const message = /^\s*message (\w+) \{/.exec(line)?.[1];
    const [, field, number] = /^\s*(?:repeated )?[\w.]+ (\w+) = (\d+);/.exec(line) ?? [];
    const path = open.filter((name) => name !== undefined).join('.');
    if (message !== undefined) open.push(message);
    else if (line.includes('{')) open.push(undefined);
    else if (line.includes('}')) open.pop();
    else if (field !== undefined) {
      const name = field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
      (messages[path] ??= {})[name] = Number(number);
    }
  }
  return messages;
}

test('field numbers are those of proto/onnx', () => {
  const published = fieldsIn(readFileSync(new URL('../../../../proto/onnx/onnx.proto', import.meta.url), 'utf8'));
  // fieldsIn finds the first and the last message, nested messages, and fields in a oneof.
  assert.equal(published['ModelProto']?.['irVersion'], 1);
  assert.equal(published['TensorShapeProto.Dimension']?.['dimParam'], 2);
  assert.equal(published['FunctionProto']?.['overload'], 13);
  for (const name of Object.keys(FIELDS) as MessageName[]) {
    for (const [field, number] of Object.entries(FIELDS[name])) {
      assert.equal(number, published[name]?.[field], `${name}.${field}`);
    }
  }
});
