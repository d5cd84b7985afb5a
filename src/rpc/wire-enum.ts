/** An enum of the contract has the names of a list in capitals. */
type WireEnum<Name extends string, Value> = Readonly<Record<Uppercase<Name>, Value>>;

export function toWireEnum<Name extends string, Value>(wireEnum: WireEnum<Name, Value>, name: Name): Value {
  return wireEnum[name.toUpperCase() as Uppercase<Name>];
}

/** Undefined for a value that only a newer version knows. */
export function fromWireEnum<Name extends string, Value>(
  wireEnum: WireEnum<Name, Value>,
  names: readonly Name[],
  value: Value,
): Name | undefined {
  return names.find((name) => toWireEnum(wireEnum, name) === value);
}
