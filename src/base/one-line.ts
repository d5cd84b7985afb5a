/** Foreign text for one line of output: control characters, which would end the line or change the terminal, are replaced. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, '\ufffd');
}
