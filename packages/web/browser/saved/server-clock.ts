/**
 * The service's clock. A device's clock can be wrong by hours, so it is never compared with a time of the service: each page has
 * the time at which the server wrote it, and `Date` headers correct it.
 */
let aheadMs = 0;

/** The service's time, Unix milliseconds. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}

/** Sets the clock by this document, which the browser may have kept since an earlier visit. */
export function setClockByDocument(): void {
  aheadMs = Number(document.querySelector("main")?.dataset.now) - Date.now() || 0;
  const [navigation] = performance.getEntriesByType("navigation");
  if (navigation !== undefined && "type" in navigation && navigation.type === "back_forward")
    void askServer();
}

/** `Date` has whole seconds, and takes its time to arrive. */
const HEADER_ERROR_MS = 2000;

/**
 * Asks the service for its time, and whether it still serves this page.
 *
 * @returns status of the reply; `null` without one.
 */
export async function askServer(): Promise<number | null> {
  try {
    const { status, headers } = await fetch(location.href, { method: "HEAD", cache: "no-store" });
    const ms = Date.parse(headers.get("Date") ?? "");
    if (Math.abs(ms - serverNow()) > HEADER_ERROR_MS) aheadMs = ms - Date.now();
    return status;
  } catch {
    return null;
  }
}
