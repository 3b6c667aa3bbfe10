/** The style sheet of all pages. The Content-Security-Policy has the hash of its exact bytes. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --radius: .5rem; --control: 2.25rem; --main-control: 2.75rem;
  --small: .875rem; --title: 1.25rem; --headline: 1.75rem;
  --step: .5rem; --gap: 1rem; --space: 1.5rem;
  --page: #f5f6f7; --card: #fff; --line: #d8dde2; --edge: #818b96; --text: #1b1f24; --soft: #56606b;
  --accent: #0b5f6e; --on-accent: #fff; --danger: #a8231c; --on-danger: #fff;
  --good-card: #e3f3e9; --good: #14532d; --bad-card: #fdebea; --bad: #861b16;
  --check-1: #f8f9fa; --check-2: #eceef1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #131618; --card: #1c2023; --line: #343a41; --edge: #78828d; --text: #e8eaed; --soft: #a5afba;
    --accent: #7fd0dc; --on-accent: #06272d; --danger: #ff9d95; --on-danger: #3d0a07;
    --good-card: #15301f; --good: #abe0bd; --bad-card: #3b1a18; --bad: #ffbdb7;
    --check-1: #4b5158; --check-2: #43494f;
  }
}
@media (pointer: coarse) { :root { --control: 2.75rem; } }
*, ::before, ::after { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 0 1rem 3rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  overflow-wrap: anywhere;
}
header {
  display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem;
  min-height: 3.5rem; padding: .75rem 0; color: var(--soft); font-weight: 650;
}
.brand { display: inline-flex; align-items: center; gap: .625rem; min-height: 1.75rem; color: var(--text); text-decoration: none; }
.brand:hover { text-decoration: underline; }
footer { display: flex; flex-wrap: wrap; justify-content: center; gap: var(--step) var(--space); margin-top: 3rem; font-size: var(--small); }
footer a { padding: .25rem 0; color: var(--soft); text-decoration: none; }
footer a:hover { text-decoration: underline; }
h1 { margin: 0 0 var(--gap); font-size: var(--headline); font-weight: 700; line-height: 1.25; letter-spacing: -.01em; }
h2 { margin: 0 0 .75rem; font-size: var(--title); font-weight: 650; line-height: 1.4; }
p { margin: 0 0 .75rem; }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible, input[type="datetime-local"]:focus-within { outline: 3px solid var(--accent); outline-offset: 2px; }
section {
  padding: 1rem 1.125rem 1.125rem; background: var(--card); border: 1px solid var(--line); border-radius: var(--radius);
}
section + section { margin-top: 1rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.viewer { max-width: 90rem; }
.headline { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .75rem var(--space); margin: var(--gap) 0; }
.headline h1 { flex: 1 1 18rem; margin: 0; }
.headline > .hint { flex-basis: 100%; margin: 0; }
.toolbar { position: relative; display: flex; flex-wrap: wrap; align-items: center; gap: var(--step); }
.toolbar > *, .drop > summary { min-height: var(--main-control); }
.pane {
  position: absolute; z-index: 2; inset: calc(100% + .5rem) 0 auto auto; width: 24rem; max-width: calc(100vw - 1.5rem); padding: var(--gap);
  background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: 0 .5rem 1.5rem #0003;
}
.pane > label:first-child { margin-top: 0; }
.pane button:not(.copy, .plain) { width: 100%; margin-top: var(--gap); }
.embed:not(:has([value="0"]:checked)) > .codes-0, .embed:not(:has([value="1"]:checked)) > .codes-1,
.embed:not(:has([value="2"]:checked)) > .codes-2 { display: none; }
.own { display: flex; flex-wrap: wrap; gap: var(--step); margin-top: var(--gap); padding-top: var(--gap); border-top: 1px solid var(--line); }
.own small { margin: 0; }
.about { border-top: 1px solid var(--line); }
.about > summary { width: fit-content; margin: .5rem 0; color: var(--soft); }
figure { margin: 0; }
.stage {
  display: grid; grid-template-columns: minmax(0, 1fr); align-items: center; min-height: 9rem;
  overflow: hidden; isolation: isolate;
  border: 1px solid var(--line); border-radius: var(--radius);
}
.see-through { background: repeating-conic-gradient(var(--check-1) 0 25%, var(--check-2) 0 50%) 0 0 / 1.25rem 1.25rem; }
.stage img { display: block; grid-area: 1 / 1; margin: 0 auto; max-width: 100%; height: auto; max-height: max(20rem, 100vh - 13rem); object-fit: contain; }
.stage picture { display: contents; }
.tall { max-height: max(20rem, 100vh - 13rem); overflow: auto; align-items: start; }
.tall img { max-height: none; }
.turner { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem; margin-top: .625rem; font-size: var(--small); }
.turner form { display: flex; align-items: center; gap: .5rem; color: var(--soft); }
.turner label { margin: 0; font-weight: 400; }
.turner input:not([type="checkbox"]) { width: 4.5rem; color: var(--text); text-align: end; }
.off { opacity: .45; }
figcaption { margin-top: .5rem; color: var(--soft); font-size: var(--small); text-align: center; }
.placeholder {
  display: flex; flex-direction: column; align-items: center; justify-content: center; gap: .5rem;
  min-height: min(60vh, 30rem); margin: 0; padding: 2rem; text-align: center;
  color: var(--soft); background: var(--card); border: 1px dashed var(--edge); border-radius: var(--radius);
}
.placeholder b { font-size: var(--headline); font-weight: 650; line-height: 1.2; letter-spacing: .04em; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 0 var(--space); margin: 0; font-size: var(--small); }
time { display: inline-block; }
dl div { display: grid; grid-template-columns: 7rem 1fr; gap: 0 .625rem; padding: .25rem 0; }
dt { color: var(--soft); }
dd { margin: 0; }
[hidden] { display: none !important; }
label { display: block; margin: .875rem 0 .25rem; font-size: var(--small); font-weight: 550; }
h2 + label, h2 + form > label:first-of-type { margin-top: 0; }
input, select, textarea, button { font: inherit; color: inherit; }
input:not([type="checkbox"]), select, textarea {
  display: block; width: 100%; min-height: var(--control); padding: .25rem .625rem;
  background: var(--page); border: 1px solid var(--edge); border-radius: var(--radius);
}
:root select:not([multiple]) {
  appearance: none; padding-inline-end: 2rem; text-overflow: ellipsis;
  background-image: linear-gradient(45deg, #0000 calc(50% - .5px), var(--soft) calc(50% + .5px)), linear-gradient(-45deg, #0000 calc(50% - .5px), var(--soft) calc(50% + .5px));
  background-position: right 1rem top 55%, right .625rem top 55%; background-size: .375rem .375rem; background-repeat: no-repeat;
}
[dir="rtl"] select:not([multiple]) { background-position: left .625rem top 55%, left 1rem top 55%; }
button, .button {
  display: inline-flex; align-items: center; justify-content: center; gap: var(--step);
  min-height: var(--control); margin: 0; padding: 0 .875rem; cursor: pointer;
  background: var(--accent); color: var(--on-accent); border: 1px solid transparent; border-radius: var(--radius);
  font-size: var(--small); font-weight: 600; line-height: 1.2; text-decoration: none;
}
.main { min-height: var(--main-control); padding: 0 1.25rem; font-size: 1rem; }
.plain, .copy { background: var(--card); color: var(--text); border-color: var(--edge); font-weight: 550; }
.quiet { background: none; color: var(--soft); font-weight: 550; }
.quiet:hover { background: var(--check-2); color: var(--text); }
:is(.plain, .copy):hover { border-color: var(--accent); color: var(--accent); }
.grave { background: var(--danger); color: var(--on-danger); }
form > :is(.main, .grave) { margin-top: var(--space); }
input.address:read-only { color: var(--soft); border-color: var(--line); }
input.address:focus { color: var(--text); }
.address { font: var(--small)/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; text-overflow: ellipsis; }
.copy-row { display: flex; flex-wrap: wrap; gap: .375rem; }
.copy-row input { flex: 1 1 9rem; min-width: 0; }
.copy { flex: none; min-width: 5rem; }
.copy ~ .copy { min-width: 0; }
.copy-row .hint { flex-basis: 100%; min-height: 0; margin: 0; }
.hint:empty { display: none; }
.pane label { margin: .625rem 0 .25rem; color: var(--soft); font-size: var(--small); font-weight: 400; }
summary { margin-top: .875rem; padding: .25rem 0; color: var(--accent); font-size: var(--small); cursor: pointer; }
summary.button { list-style: none; }
summary.button::-webkit-details-marker { display: none; }
[open] > summary.button { border-color: var(--accent); color: var(--accent); }

.edit, .problem { max-width: 42rem; }
.subject { display: flex; gap: 1rem; align-items: flex-start; margin-bottom: 1rem; }
.subject h1 { margin-bottom: .25rem; }
.subject p { margin-bottom: .25rem; color: var(--soft); font-size: var(--small); }
.thumbnail {
  flex: none; width: 6rem; height: 6rem; object-fit: cover;
  background: var(--check-2); border: 1px solid var(--line); border-radius: var(--radius);
}
.banner { margin-bottom: 1rem; padding: .75rem 1rem; border: 1px solid; border-radius: var(--radius); font-weight: 550; }
.notice { color: var(--good); background: var(--good-card); }
.alarm { color: var(--bad); background: var(--bad-card); }
.hint { margin: .375rem 0 0; color: var(--soft); font-size: var(--small); }
code { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: var(--small); }
fieldset { min-width: 0; margin: .875rem 0 0; padding: 0; border: 0; }
legend { padding: 0; font-size: var(--small); font-weight: 550; }
.fault { margin: .25rem 0 .5rem; color: var(--danger); font-size: var(--small); font-weight: 550; }
[aria-invalid] { border-color: var(--danger) !important; }

.problem main { padding: min(10vh, 6rem) 0 0; }
.card { padding: 1.75rem; background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); }
.card h1 { margin-bottom: .75rem; }
.card > :last-child { margin-bottom: 0; }
.actions { margin-top: 1.25rem; }
.problem .status { margin: .875rem 0 0; color: var(--soft); font-size: var(--small); text-align: center; }
input.pin { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; letter-spacing: .06em; text-transform: uppercase; }
.bar { height: .375rem; margin: 0 0 1rem; overflow: hidden; background: var(--check-2); border-radius: var(--radius); }
.bar::before { content: ""; display: block; width: 35%; height: 100%; background: var(--accent); border-radius: inherit; animation: pass 1.6s ease-in-out infinite alternate; }
@keyframes pass { to { transform: translateX(186%); } }
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after { animation: none !important; transition: none !important; }
  .bar::before { width: 100%; opacity: .5; }
}
@media print {
  body { background: #fff; }
  header, footer, .toolbar, .turner { display: none; }
  .about::details-content { content-visibility: visible; }
}

@media (min-width: 60rem) {
  body { padding: 0 2rem 4rem; }
}
@media (max-width: 30rem) {
  body { padding-inline: .75rem; }
  section { padding: .875rem .875rem 1rem; }
  .card { padding: 1.25rem; }
  .turner form { order: 1; flex-basis: 100%; justify-content: center; }
  .thumbnail { width: 4.5rem; height: 4.5rem; }
  .toolbar { flex: 1 0 100%; }
  .toolbar > * { flex: 1 0 auto; }
  .toolbar > .main { flex-basis: 100%; }
  .drop > summary { width: 100%; }
}
`;
