/** Added to the style sheet of all pages. */
export const ADMIN_STYLE = `
.admin { max-width: 90rem; }
.views { display: flex; flex-wrap: wrap; gap: .5rem; margin: 0 0 1rem; padding: 0; list-style: none; }
.views [aria-current] { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
.tools { margin-bottom: 1rem; }
.tools > details > summary { margin-top: .625rem; padding-bottom: 0; }
.admin main > .hint { margin-bottom: .5rem; }
.admin textarea { min-height: 5rem; }
.admin :is(.check, .pick) { display: flex; align-items: center; gap: .5rem; margin: 0; font-weight: 400; }
.admin input[type="checkbox"] { flex: none; width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--accent); }
.inline { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; }
.inline input:not([type="checkbox"]) { width: min(20rem, 100%); }
.shots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: 1rem; margin: 0 0 1rem; padding: 0; list-style: none; }
.shot { display: flex; flex-direction: column; overflow: hidden; background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); }
.shot:has(input:checked) { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.frame { display: block; height: 12rem; overflow: hidden; background: var(--check-2); }
.frame img { display: block; width: 100%; height: 100%; object-fit: contain; color: var(--soft); font-size: var(--small); text-align: center; }
.admin:has(#blur:checked) .frame:not(:hover, :focus-visible) img { filter: blur(1.5rem); }
.frame:focus-visible { outline-offset: -3px; }
.told { flex: 1; padding: .75rem .875rem; font-size: var(--small); }
.told p { margin: 0 0 .25rem; }
.told .soft { color: var(--soft); }
.told summary { margin-top: .25rem; font-size: var(--small); }
.told blockquote { margin: .375rem 0; padding-inline-start: .625rem; border-inline-start: 3px solid var(--line); white-space: pre-line; }
.shot .pick { padding: .625rem .875rem; border-top: 1px solid var(--line); font-size: var(--small); cursor: pointer; }
.badge { display: inline-block; padding: 0 .5rem; border: 1px solid var(--edge); border-radius: var(--radius); font-size: var(--small); font-weight: 550; }
.badge.late { color: var(--bad); background: var(--bad-card); border-color: transparent; }
.decide h2 { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .5rem 1rem; margin-bottom: .5rem; }
.decide .fields { display: grid; gap: .5rem 1rem; align-items: end; }
.decide .fields label { margin-top: 0; }
.decide > .check { display: inline-flex; margin: .5rem 1rem 0 0; }
#decide { counter-reset: chosen; }
.shot input:checked { counter-increment: chosen; }
#chosen::after { content: ": " counter(chosen); }
.decide:has([name="all"]:checked) #chosen::after { content: ": " attr(data-all); }
.decide .acts { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin-top: .75rem; }
.acts .check { margin-inline-start: auto; }
.outcome { margin: .25rem 0 0; padding-inline-start: 1.25rem; font-weight: 400; }
.turn { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; margin: 1rem 0 0; color: var(--soft); font-size: var(--small); }
@media (min-width: 48rem) { .decide .fields { grid-template-columns: 1fr 1fr; } }
@media (min-width: 48rem) and (min-height: 40rem) {
  html { scroll-padding-bottom: 17rem; }
  .decide { position: sticky; bottom: 0; box-shadow: 0 -.25rem 1rem #0002; }
}
`;
