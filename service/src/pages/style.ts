/** The style sheet of all pages. Their policy allows no other one. */
export const style = `
:root { color-scheme: light dark; --text: #1f2328; --quiet: #59636e; --line: #d1d9e0; --back: #fff; --soft: #f6f8fa;
  --added: #dafbe1; --removed: #ffebe9; --hunk: #ddf4ff; --plus: #1a7f37; --minus: #d1242f; --link: #0969da }
@media (prefers-color-scheme: dark) { :root { --text: #f0f6fc; --quiet: #9198a1; --line: #3d444d; --back: #0d1117;
  --soft: #151b23; --added: #12261e; --removed: #25171c; --hunk: #121d2f; --plus: #3fb950; --minus: #f85149;
  --link: #4493f8 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 14px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
header { display: flex; gap: 16px; justify-content: space-between; padding: 12px 16px; background: var(--soft);
  border-bottom: 1px solid var(--line) }
header nav { display: flex; flex-wrap: wrap; gap: 2px 16px; min-width: 0 }
header a { color: inherit; font-weight: 600; text-decoration: none }
a, .link { color: var(--link) }
main { max-width: 1000px; margin: 0 auto; padding: 24px 16px 64px }
main.narrow { max-width: 372px; padding-top: 64px }
h1 { font-size: 26px; line-height: 1.25; font-weight: 400; margin: 0 0 8px }
h2 { font-size: 16px; margin: 24px 0 8px }
ol, ul { padding-left: 24px }
.quiet { color: var(--quiet); font-weight: 400 } .plus { color: var(--plus) } .minus { color: var(--minus) }
.state { display: inline-block; border-radius: 2em; padding: 3px 12px; margin-right: 8px; color: #fff }
.open, .active { background: #1a7f37 } .merged { background: #8250df } .closed, .failed { background: #cf222e }
.completed { background: #0969da } .archived, .waiting, .stopped { background: #59636e } .running { color: var(--plus); font-weight: 600 }
code, pre, table { font: 12px/20px ui-monospace, monospace }
code { background: var(--soft); border-radius: 6px; padding: 2px 5px }
pre { margin: 4px 0 12px; padding: 8px 12px; max-height: 400px; overflow: auto; background: var(--soft);
  border-radius: 6px; white-space: pre-wrap }
summary { cursor: pointer }
label { display: block; font-weight: 600; margin: 16px 0 4px }
input, select, textarea { width: 100%; padding: 6px 12px; font: inherit; color: inherit; background: var(--back);
  border: 1px solid var(--line); border-radius: 6px }
textarea { display: block; resize: vertical }
button { padding: 6px 16px; font: inherit; font-weight: 600; color: #fff; background: #1f883d; border: 0;
  border-radius: 6px; cursor: pointer }
.narrow button { width: 100%; margin-top: 16px }
button.link { padding: 0; font-weight: 400; color: var(--link); background: none; white-space: nowrap }
button.small { padding: 2px 10px; font-size: 12px; color: inherit; background: var(--soft); box-shadow: inset 0 0 0 1px var(--line) }
button.plain { color: inherit; background: var(--soft); box-shadow: inset 0 0 0 1px var(--line) }
button:disabled { opacity: .5; cursor: default }
.file { border: 1px solid var(--line); border-radius: 6px; margin: 0 0 16px; overflow: hidden } .file table { scroll-margin-top: 64px }
h3 { display: inline; font-size: 12px } .file summary { padding: 8px; background: var(--soft) } .file[open] summary { border-bottom: 1px solid var(--line) }
.files { margin: 0 0 16px }
h3 code { padding: 0 }
table { width: 100%; border-collapse: collapse; table-layout: fixed }
td { padding: 0 8px; vertical-align: top; white-space: pre-wrap }
td:nth-child(-n+2) { width: 44px; text-align: right; color: var(--quiet); user-select: none; overflow-wrap: normal }
.added { background: var(--added) } .removed { background: var(--removed) }
.hunk { background: var(--hunk) } .hunk, .marker { color: var(--quiet) }
.filter { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: end; margin: 0 0 16px }
.filter label { margin: 0; min-width: 0 } .filter :is(select, input, button) { display: block; width: auto; max-width: 220px; height: 34px; padding-block: 0 } .filter :is(select, input) { font-weight: 400 }
.filter .search { flex: 1 1 100% } .filter .search input { width: 100%; max-width: none }
.banner { padding: 8px 16px; background: var(--removed); border-bottom: 1px solid var(--line) } .banner p { margin: 0 }
.jobs { list-style: none; margin: 0 0 24px; padding: 0; border: 1px solid var(--line); border-radius: 6px }
.jobs li { padding: 12px 16px } .jobs li + li { border-top: 1px solid var(--line) }
.jobs p { margin: 6px 0 0 } .jobs .state { padding: 0 10px; font-size: 12px }
.title { color: inherit; font-weight: 600; font-size: 15px; text-decoration: none } .title:hover { text-decoration: underline }
time, .words { white-space: nowrap }
.wide { overflow-x: auto } .costs { table-layout: auto; font: inherit } .costs :is(td, th) { padding: 4px 12px 4px 0; text-align: left; color: inherit; width: auto;
  white-space: nowrap; user-select: auto; border-bottom: 1px solid var(--line) } .costs :nth-child(n+3) { text-align: right }
.paging { display: flex; gap: 16px }
#turns ol { list-style: none; padding: 0 } #turns li { margin: 4px 0 } #facts p { margin: 4px 0 }
#log { max-height: 60vh; min-height: 84px; border: 1px solid var(--line) }
.lines { list-style: none; padding: 0; font: 12px/20px ui-monospace, monospace } .lines li { display: flex; gap: 12px; padding: 0 8px }
.lines span { white-space: pre-wrap; min-width: 0 } .lines a { color: var(--quiet); text-decoration: none } .lines .note { background: var(--hunk) }
.lines li:target { background: var(--added) }
.message { max-width: 700px } .message p { margin: 4px 0 12px }
a:focus-visible, summary:focus-visible, button:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
`;
