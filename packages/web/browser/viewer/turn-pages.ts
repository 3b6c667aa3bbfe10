import { announce } from "./announce.ts";
import { dressPage } from "./dress-page.ts";

const KEYS: Readonly<Record<string, string>> = { ArrowLeft: "prev", ArrowRight: "next" };

/** The latest requested page turn; earlier ones are dropped. */
let latest = 0;

/** Turns the pages of a document in place, with its links and the arrow keys. */
export function turnPages(): void {
  if (document.querySelector(".turner") === null) return;
  document.addEventListener("click", (event) => {
    const link = linkOf(event.target);
    if (link === null || event.button !== 0 || hasModifier(event)) return;
    event.preventDefault();
    void turn(link.href, link.rel, "push");
  });
  document.addEventListener("keydown", (event) => {
    const rel = KEYS[event.key];
    if (rel === undefined || hasModifier(event) || isTyping(event.target)) return;
    const link = document.querySelector<HTMLAnchorElement>(`.turner a[rel="${rel}"]`);
    if (link === null) return;
    event.preventDefault();
    void turn(link.href, null, "push");
  });
  window.addEventListener("popstate", () => void turn(location.href, null, "stay"));
}

/** @param focus the `rel` of the link that gets the focus afterwards. */
async function turn(href: string, focus: string | null, mark: "push" | "stay"): Promise<void> {
  const mine = ++latest;
  const old = document.querySelector("main");
  old?.querySelector("figure")?.setAttribute("aria-busy", "true");
  const main = await load(href);
  if (mine !== latest) return;
  if (main === null || old === null) {
    location.assign(href);
    return;
  }
  for (const [index, details] of main.querySelectorAll("details").entries()) {
    details.open = old.querySelectorAll("details")[index]?.open ?? false;
  }
  old.replaceWith(main);
  if (mark === "push") history.pushState(null, "", href);
  dressPage();
  if (focus !== null) focusLink(focus);
  announce(main.querySelector("img")?.alt ?? "");
}

/** The next page's `<main>` with its picture decoded; `null` when it cannot be loaded. */
async function load(href: string): Promise<Element | null> {
  try {
    const response = await fetch(href, { headers: { Accept: "text/html" } });
    if (!response.ok) return null;
    const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
    const main = parsed.querySelector("main");
    if (main === null) return null;
    const own = document.importNode(main, true);
    // The page turns even if the picture cannot be shown.
    await own
      .querySelector("img")
      ?.decode()
      .catch(() => undefined);
    return own;
  } catch {
    // Another origin or no network: the browser reports that best by navigating itself.
    return null;
  }
}

/** Focuses the link with this `rel`. At either end that link is missing, and the other one gets the focus. */
function focusLink(rel: string): void {
  const links = document.querySelectorAll<HTMLAnchorElement>(".turner a[rel]");
  const link = [...links].find((each) => each.rel === rel) ?? links[0];
  link?.focus();
}

function linkOf(target: EventTarget | null): HTMLAnchorElement | null {
  return target instanceof Element ? target.closest<HTMLAnchorElement>(".turner a[rel]") : null;
}

function hasModifier({ altKey, ctrlKey, metaKey, shiftKey }: MouseEvent | KeyboardEvent): boolean {
  return altKey || ctrlKey || metaKey || shiftKey;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, select, textarea") !== null;
}
