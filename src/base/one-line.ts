/** Text as it may stand in a line, whoever wrote it: whatever would end the line or be obeyed by a terminal is replaced. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, '\ufffd');
}
