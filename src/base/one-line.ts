/** Control characters of foreign text would end the line or change the terminal. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, '\ufffd');
}
