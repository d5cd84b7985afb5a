/** The style of a page: dark and light, narrow and wide, on paper. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --quiet: #59636e; --back: #ffffff; --soft: #f3f5f8; --line: #d1d9e0;
  --accent: #0a5ab8; --band: #a9cdf5; --mark: #b3380a; --warn: #fff3cd; --warn-line: #9a6700;
  --c0: #cfe3fa; --c1: #fbdcc9; --c2: #cdeee2; --c3: #f1d9ea; --c4: #faeac4; --c5: #d9e4ec; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --quiet: #9da7b3; --back: #0d1117; --soft: #171d26;
  --line: #3d444d; --accent: #6cb2ff; --band: #1f4f8a; --mark: #ffa35c; --warn: #33270a; --warn-line: #d4a72c;
  --c0: #173a63; --c1: #5c2c13; --c2: #0f4a38; --c3: #52274a; --c4: #4f3c0b; --c5: #2c3a45; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem clamp(.75rem, 3vw, 3rem) 3rem; max-width: 110rem; background: var(--back);
  color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
h1, h2, h3, p, li, dd, td, th, summary { overflow-wrap: anywhere; }
h1 { font-size: clamp(1.25rem, 1rem + 1.2vw, 1.9rem); line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.25rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .35rem; }
p { margin: .5rem 0; max-width: 75ch; }
.verdict { font-size: 1.1rem; }
.quiet, .lead, .axis { color: var(--quiet); }
.warnings { list-style: none; margin: 1rem 0; padding: 0; display: grid; gap: .5rem; }
.warnings li { background: var(--warn); border-left: .3rem solid var(--warn-line); padding: .5rem .75rem; }
td, .warnings li, .notes li { white-space: pre-line; }
.notes { padding-left: 1.2rem; max-width: 90ch; }
.table { overflow: auto; max-width: 100%; max-height: 45rem; }
.long { content-visibility: auto; contain-intrinsic-size: auto 60rem; }
.table:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
button:focus-visible, input:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem; border-bottom: 1px solid var(--line);
  min-width: 3rem; max-width: 30rem; }
thead th { background: var(--soft); font-weight: 600; vertical-align: bottom; overflow-wrap: normal;
  position: sticky; top: 0; z-index: 1; }
tbody th { font-weight: 500; min-width: 9.5rem; }
tbody td:not(.right) { min-width: 5rem; }
.right { text-align: right; }
td.right, .option { white-space: nowrap; }
thead th.right button { text-align: right; }
tbody tr:hover { background: var(--soft); }
button, input { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: .3rem;
  padding: .15rem .6rem; }
button { cursor: pointer; }
th button { border: 0; background: none; padding: 0; font-weight: inherit; width: 100%; text-align: left; overflow-wrap: normal; }
th button::after { content: '\\00a0↕'; color: var(--quiet); font-size: .8em; }
th[aria-sort=ascending] button::after { content: '\\00a0↑'; color: var(--accent); }
th[aria-sort=descending] button::after { content: '\\00a0↓'; color: var(--accent); }
.tools { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; }
.tools input { min-width: 6rem; max-width: 16rem; flex: 1 1 6rem; }
.state { color: var(--quiet); }
.drawing { overflow-x: auto; }
.drawing svg { max-width: 100%; height: auto; min-width: 20rem; }
.drawing svg:not([width]) { max-width: min(100%, 46rem); }
.drawing .title { display: none; }
.ranges { list-style: none; padding: 0; margin: .5rem 0; max-width: 80rem; }
.ranges li { display: grid; grid-template-columns: minmax(8rem, 16rem) 1fr minmax(11rem, 23rem); gap: .2rem .9rem;
  align-items: center; padding: .2rem 0; border-bottom: 1px solid var(--line); }
.ranges .name { overflow: hidden; text-overflow: ellipsis; display: -webkit-box; -webkit-line-clamp: 3;
  -webkit-box-orient: vertical; overflow-wrap: anywhere; }
.track { position: relative; height: 1.5rem; display: block; }
.track i { position: absolute; top: 0; bottom: 0; }
.track .grid { width: 1px; background: var(--line); }
.track .band { background: var(--band); top: .35rem; bottom: .35rem; min-width: 2px; border-radius: 2px; }
.track .point { width: 3px; margin-left: -1px; background: var(--accent); top: .15rem; bottom: .15rem; }
.track .other { width: .7rem; height: .7rem; margin-left: -.35rem; top: .4rem; background: var(--mark); rotate: 45deg;
  border: 1px solid var(--back); }
.ranges .numbers { font-size: .9rem; font-variant-numeric: tabular-nums; }
.ranges .axis { border: 0; font-size: .8rem; }
.axis .track span { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; font-size: .9rem; color: var(--quiet); }
.key i { display: inline-block; width: 1.4rem; height: .7rem; margin-right: .4rem; }
.key .band { background: var(--band); } .key .point { width: 3px; background: var(--accent); height: 1rem; vertical-align: middle; }
.key .other { background: var(--mark); width: .65rem; height: .65rem; rotate: 45deg; }
.icicle { margin: .3rem 0 1rem; font-size: .82rem; line-height: 1.35; }
.icicle, .parts { display: flex; }
.node { min-width: 0; flex-basis: 0; overflow: hidden; }
.node > span { display: block; overflow: hidden; white-space: nowrap; padding: .2rem 0; text-indent: .3rem;
  height: 1.6rem; outline: 1px solid var(--back); outline-offset: -1px; background: var(--soft); color: var(--text); }
.n0 > span { background: var(--c0); } .n1 > span { background: var(--c1); } .n2 > span { background: var(--c2); }
.n3 > span { background: var(--c3); } .n4 > span { background: var(--c4); } .n5 > span { background: var(--c5); }
.histograms { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 1rem 1.5rem; }
.histogram { margin: 0; min-width: 0; } .histogram figcaption { overflow-wrap: anywhere; font-size: .9rem; }
.bars { display: flex; align-items: end; gap: 1px; height: 6rem; border-bottom: 1px solid var(--line); }
.bars i { flex: 1; background: var(--accent); }
.ends { display: flex; justify-content: space-between; font-size: .8rem; color: var(--quiet); }
@media (max-width: 48rem) { .ranges li { grid-template-columns: 1fr; padding: .5rem 0; } .ranges .axis .name,
  .ranges .axis .numbers { display: none; } .axis .track span:last-child { transform: translateX(-100%); }
  .icicle { width: 100% !important; } }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } .tools, th button::after { display: none; }
  .table, .drawing { overflow: visible; max-height: none; } h2, h3 { break-after: avoid; } tr, .ranges li, .icicle { break-inside: avoid; }
  .histogram { break-inside: avoid; } .track i, .bars i, .node > span, .key i, .warnings li { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  th, td { padding: .15rem .35rem; } td.right { white-space: normal; } }
`;
