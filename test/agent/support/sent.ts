interface MessageType<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** Encodes a message and decodes it from the bytes, as over the network. */
export function sent<T>(type: MessageType<T>, message: T): T {
  return type.decode(type.encode(message).finish());
}
