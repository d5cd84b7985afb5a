export class Markup {
  private constructor(readonly text: string) {}

  /** Only for texts of this project, such as drawings, which escape what they contain. */
  static trusted(text: string): Markup {
    return new Markup(text);
  }
}

/** Control characters but for line breaks and tabs, and marks that change the direction of the text after them. */
const NOT_SHOWN = /[^\P{Cc}\n\t]+|[\u202a-\u202e\u2066-\u2069]/gu;

/** Foreign text inside of an element or of an attribute in double quotes. */
export function escapedMarkup(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(NOT_SHOWN, '\ufffd')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

type Part = Markup | string | number | undefined | readonly Part[];

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  return typeof part === 'object' ? part.map(textOf).join('') : escapedMarkup(String(part));
}

/** HTML or SVG. Values are escaped unless they are markup; undefined is nothing. */
export function markup(template: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return Markup.trusted(String.raw({ raw: template }, ...parts.map(textOf)));
}
