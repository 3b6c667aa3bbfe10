import { setClockByPage } from "../saved/server-clock.ts";
import { dressPage } from "./dress-page.ts";
import { addOwnBar } from "./own-image.ts";

/** A page of the viewer, loaded but not shown. */
export interface LoadedMain {
  main: Element;
  title: string;
}

/** Loads the `<main>` of a page with its picture decoded; `null` when it cannot be loaded. */
export async function loadMain(href: string): Promise<LoadedMain | null> {
  try {
    const response = await fetch(href, { headers: { Accept: "text/html" }, cache: "no-cache" });
    if (!response.ok) return null;
    const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
    const main = parsed.querySelector("main");
    if (main === null) return null;
    setClockByPage(main);
    const own = document.importNode(main, true);
    // The page is shown even if its picture cannot be.
    await own
      .querySelector("img")
      ?.decode()
      .catch(() => undefined);
    return { main: own, title: parsed.title };
  } catch {
    // Another origin or no network: the browser reports that best by navigating itself.
    return null;
  }
}

/** Shows a loaded page in place of the present one. Sections that the reader has opened stay open. */
export async function showMain({ main, title }: LoadedMain): Promise<void> {
  const old = document.querySelector("main");
  for (const [index, details] of main.querySelectorAll("details").entries()) {
    details.open = old?.querySelectorAll("details")[index]?.open ?? false;
  }
  old?.replaceWith(main);
  document.title = title;
  await dressMain();
}

/** Adds the scripted parts to the server's page. */
export async function dressMain(): Promise<void> {
  dressPage();
  await addOwnBar(reloadMain);
}

/** Loads and shows the present page anew. @returns whether that succeeded. */
async function reloadMain(): Promise<boolean> {
  const loaded = await loadMain(location.href);
  if (loaded !== null) await showMain(loaded);
  return loaded !== null;
}
