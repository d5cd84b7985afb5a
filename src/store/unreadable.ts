export function unreadableMessage(place: string, problems: readonly string[]): string {
  return (
    `The store ${place} holds something that cannot be used and counts as missing; measuring again replaces it. ` +
    `The first of ${problems.length}: ${problems[0]}.`
  );
}
