import { type ModelProto, TensorProto_DataLocation } from '../../generated/onnx/onnx.js';

interface MessagePart {
  readonly value: object;
  readonly key: string | number;
  readonly around: MessagePart | undefined;
}

/** Whether a value has only numbers, texts or bytes. Lists hold values of one kind. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return true;
  return Array.isArray(value) && isPlain(value[0]);
}

function pathOf(part: MessagePart): string {
  const keys: (string | number)[] = [];
  for (let at: MessagePart | undefined = part; at?.around !== undefined; at = at.around) keys.push(at.key);
  return keys.reverse().join('.');
}

/** The first tensor whose values are in another file. The whole message is searched, so that none is forgotten. */
export function externalTensorIn(model: ModelProto): string | undefined {
  const pending: MessagePart[] = [{ value: model, key: '', around: undefined }];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    const { value } = part;
    if ('dataLocation' in value && value.dataLocation !== TensorProto_DataLocation.DEFAULT) return pathOf(part);
    for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
      if (!isPlain(inner)) pending.push({ value: inner as object, key, around: part });
    }
  }
  return undefined;
}
