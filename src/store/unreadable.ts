export function unreadableMessage(address: string, problems: readonly string[]): string {
  return (
    `The store ${address} holds something that cannot be used and counts as missing; measuring again replaces it. ` +
    `The first of ${problems.length}: ${problems[0]}.`
  );
}
