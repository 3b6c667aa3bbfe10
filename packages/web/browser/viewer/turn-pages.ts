import { announce } from "./announce.ts";
import { loadMain, showMain } from "./load-main.ts";

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
    // The arrow keys scroll a zoomed picture.
    if (link === null || document.querySelector(".zoomed") !== null) return;
    event.preventDefault();
    void turn(link.href, null, "push");
  });
  window.addEventListener("popstate", () => void turn(location.href, null, "stay"));
}

/** @param focus the `rel` of the link that gets the focus afterwards. */
async function turn(href: string, focus: string | null, mark: "push" | "stay"): Promise<void> {
  const mine = ++latest;
  document.querySelector("main figure")?.setAttribute("aria-busy", "true");
  const loaded = await loadMain(href);
  if (mine !== latest) return;
  if (loaded === null) {
    location.assign(href);
    return;
  }
  if (mark === "push") history.pushState(null, "", href);
  void showMain(loaded);
  if (focus !== null) focusLink(focus);
  announce(loaded.main.querySelector("img")?.alt ?? "");
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

/** Whether a click or key is meant for the browser. */
export function hasModifier({ altKey, ctrlKey, metaKey, shiftKey }: MouseEvent | KeyboardEvent): boolean {
  return altKey || ctrlKey || metaKey || shiftKey;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, select, textarea") !== null;
}
