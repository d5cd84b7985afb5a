import { PAGE_STYLE } from '../page-style.js';

export const SITE_STYLE = `${PAGE_STYLE}
header { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; align-items: baseline; padding: .6rem 0;
  border-bottom: 1px solid var(--line); }
header .site { font-weight: 600; }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; list-style: none; margin: 0; padding: 0; }
header form { margin-left: auto; }
a { color: var(--accent); }
a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
a:focus-visible, select:focus-visible, textarea:focus-visible, summary:focus-visible { outline: 2px solid var(--accent);
  outline-offset: 1px; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: .5rem; background: var(--back); padding: .3rem .6rem; }
select, textarea { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
  border-radius: .3rem; padding: .15rem .4rem; max-width: 100%; }
textarea { width: 100%; min-height: 5rem; }
input, select { min-height: 1.9rem; max-width: 100%; }
form.row { display: flex; flex-wrap: wrap; gap: .5rem .9rem; align-items: end; margin: .8rem 0; }
form.row label { display: grid; min-width: 0; max-width: 100%; grid-template-columns: minmax(0, 1fr); gap: .15rem; font-size: .9rem; color: var(--quiet); }
form.fields { max-width: 60rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: .9rem; margin: 1rem 0; }
.field { display: grid; grid-template-columns: minmax(0, 1fr); justify-items: start; gap: .15rem; } .field > label { font-weight: 600; }
.field:has(:required) > label::after { content: ' (required)' / ''; font-weight: normal; color: var(--quiet); }
[aria-invalid] { border-color: var(--warn-line); } .field .quiet { font-size: .9rem; margin: 0; }
fieldset { border: 1px solid var(--line); border-radius: .3rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: .9rem; padding: .8rem; min-width: 0; }
.primary { background: var(--accent); color: var(--back); border-color: var(--accent); padding: .35rem 1rem; }
.problem { background: var(--warn); border-left: .3rem solid var(--warn-line); padding: .5rem .75rem; max-width: 90ch;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.problem:empty { display: none; }
.state-word { border: 1px solid var(--line); border-radius: 1rem; padding: 0 .6rem; background: var(--soft); }
[data-progress] { display: block; }
progress { width: min(100%, 40rem); height: 1.1rem; accent-color: var(--accent); }
.events { padding-left: 1.2rem; max-width: 90ch; max-height: 24rem; overflow: auto; }
.events li { white-space: pre-wrap; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .5rem 0; }
.facts dt { color: var(--quiet); } .facts dd { margin: 0; }
.side-by-side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1.2rem; }
.side-by-side img { max-width: 100%; max-height: 20rem; }
.side-by-side > * { min-width: 0; }
.field input[type=text], .field input[type=password] { width: min(100%, 40rem); }
.table td:not(.right) { min-width: 8rem; }
.matrix td.right { white-space: nowrap; }
.matrix thead th { min-width: 9rem; max-width: 14rem; }
@media (max-width: 48rem) { .facts { grid-template-columns: 1fr; gap: 0; } .facts dd { margin-bottom: .4rem; } }
@media print { header, form.row, form[data-api], form button { display: none; } a { color: inherit; text-decoration: none; } }
`;
