/**
 * Fits the explorer's headings and landmarks into the page, which has an `h1` of its own. The explorer renders anew at
 * every step, so its shadow tree is observed.
 */
export function fitOutline(explorer: HTMLElement): void {
  const root = explorer.shadowRoot;
  if (root === null) return;
  const fit = () => {
    for (const title of root.querySelectorAll('h1:not([aria-level="2"])'))
      title.setAttribute("aria-level", "2");
    // The list of links lies within the menu.
    for (const list of root.querySelectorAll("nav nav:not([role])")) list.setAttribute("role", "none");
  };
  new MutationObserver(fit).observe(root, { childList: true, subtree: true });
  fit();
}
