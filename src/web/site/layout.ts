import { Markup, markup } from '../../base/markup.js';
import { sha256Of } from '../../base/sha256.js';
import { PAGE_SCRIPT } from '../page-script.js';
import { SITE_SCRIPT } from './site-script.js';
import { SITE_STYLE } from './site-style.js';

/** The name has the hash of the content, so that browsers may keep the file. */
function asset(name: string, ending: string, type: string, text: string) {
  const hash = sha256Of(text).slice(0, 16);
  return { path: `/assets/${name}-${hash}.${ending}`, type, text };
}

const STYLE = asset('site', 'css', 'text/css; charset=utf-8', SITE_STYLE);
const SCRIPT = asset('site', 'js', 'text/javascript; charset=utf-8', `${PAGE_SCRIPT}\n${SITE_SCRIPT}`);

const ICON = asset(
  'icon',
  'svg',
  'image/svg+xml',
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 15V9h3v6zm5 0V5h3v10zm5 0V1h3v14z" fill="#0a5ab8"/></svg>',
);

export const ASSETS = [STYLE, SCRIPT, ICON];

/** Pages load their style, their script and answers of their server, and nothing else. */
export const SITE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; style-src-elem 'self'; " +
  "connect-src 'self'; img-src 'self' blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const PLACES = [
  ['/', 'Models'],
  ['/systems', 'Systems'],
  ['/evaluations', 'Evaluations'],
  ['/agents', 'Agents'],
  ['/submit', 'Submit'],
  ['/predict', 'Predict'],
] as const;

export interface Visitor {
  /** undefined for a visitor without a token */
  readonly name: string | undefined;
  readonly canLogIn: boolean;
}

export interface SiteContent {
  readonly title: string;
  readonly body: Markup;
}

function visitorMarkup({ name, canLogIn }: Visitor): Markup | undefined {
  if (!canLogIn) return undefined;
  if (name === undefined) return markup`<a href="/login">Log in</a>`;
  return markup`<form method="post" action="/logout"><span class="quiet">${name}</span> <button>Log out</button></form>`;
}

/** @param path to mark its place in the navigation */
export function sitePage({ title, body }: SiteContent, path: string, visitor: Visitor): string {
  const places = PLACES.map(([target, name]) => {
    const here = target === path ? Markup.trusted(' aria-current="page"') : '';
    return markup`<li><a href="${target}"${here}>${name}</a></li>`;
  });
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${ICON.path}">
<link rel="stylesheet" href="${STYLE.path}">
<script src="${SCRIPT.path}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><span class="site">MLModelScope</span><nav aria-label="Site"><ul>${places}</ul></nav>${visitorMarkup(visitor)}</header>
<main id="content">
${body}
</main>
</body>
</html>
`.text;
}

export function section(title: string, content: readonly (Markup | undefined)[], lead?: string): Markup {
  return markup`<section><h2>${title}</h2>
${lead === undefined ? undefined : markup`<p class="lead">${lead}</p>\n`}${content}
</section>
`;
}

/** A message, with what is between backticks as code. */
export function messageMarkup(message: string): Markup {
  const parts = message.split(/`([^`\n]+)`/);
  return markup`${parts.map((part, index) => (index % 2 === 1 ? markup`<code>${part}</code>` : part))}`;
}

export function facts(pairs: readonly (readonly [name: string, value: string | Markup])[]): Markup {
  return markup`<dl class="facts">${pairs.map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

export function address(path: string, query: readonly (readonly [string, string])[]): string {
  const text = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
  return text === '' ? path : `${path}?${text}`;
}

export function timeText(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}
