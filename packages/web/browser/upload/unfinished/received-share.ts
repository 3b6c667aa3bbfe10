import type { UploadConfig } from "../config.ts";
import type { Session } from "../session.ts";

/**
 * Offers what a closed window left, and handles files that an app has just shared. In the installed app they are sent
 * at once; elsewhere the page asks first, because the form of any site can share files too.
 */
export async function openOffers({ unfinished, resume, advise }: Session): Promise<void> {
  const address = new URL(location.href);
  const token = address.searchParams.get("shared");
  if (token !== null) {
    // Before anything is sent: a reload or a bookmark is no share.
    address.searchParams.delete("shared");
    history.replaceState(history.state, "", address);
  }
  await unfinished.refresh();
  const shared = unfinished.offers.value.filter(({ owner, meta }) => owner === token && meta === null);
  if (token === "missed") advise("The shared files did not arrive. Share them again, or choose them here.");
  else if (isFromApp() && shared.length > 0) resume(shared);
}

function isFromApp(): boolean {
  const { referrer } = document;
  const isOwn = referrer !== "" && new URL(referrer).origin === location.origin;
  return isOwn || (referrer === "" && isInstalled());
}

function isInstalled(): boolean {
  return matchMedia("(display-mode: standalone)").matches;
}

/** Registers the worker that receives shared files, where the page is installed as an app: only there it can get any. */
export function registerShareWorker({ baseUrl }: UploadConfig, givenBase: string | undefined): void {
  // The policy of the page names the worker below the service's own address only.
  if (!("serviceWorker" in navigator) || baseUrl !== givenBase) return;
  const script = `${baseUrl}/share-target`;
  const register = () => {
    // Refused, for example, in private windows: shares then open the page without the files.
    navigator.serviceWorker
      .register(script, { scope: script, updateViaCache: "none" })
      .catch(() => undefined);
  };
  if (isInstalled()) register();
  else addEventListener("appinstalled", register);
}
