const DEFAULT_WAIT_SECONDS = 2;

/** Polls until an image has been processed, then shows it without an empty page in between. */
export async function awaitImage(): Promise<void> {
  if (document.readyState !== "complete") {
    await new Promise((resolve) => window.addEventListener("load", resolve, { once: true }));
  }
  // Stops the browser's own reload, which the reply's `Refresh` header schedules at `load`.
  await pause(0);
  window.stop();
  for (;;) {
    const answer = await ask();
    if (answer === "ready") break;
    await pause(answer);
  }
  location.reload();
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => window.setTimeout(resolve, seconds * 1000));
}

/** `"ready"`, or the seconds until the next poll. */
async function ask(): Promise<"ready" | number> {
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    const wait = Number(response.headers.get("Retry-After") ?? DEFAULT_WAIT_SECONDS);
    if (response.status === 202 || response.status === 503 || response.status === 429) return wait;
    if (response.headers.get("Content-Type")?.startsWith("text/html")) await warm(await response.text());
    return "ready";
  } catch {
    // The network is down at the moment.
    return DEFAULT_WAIT_SECONDS;
  }
}

/** Loads the picture of the next page into the cache before that page is shown. */
async function warm(page: string): Promise<void> {
  const picture = new DOMParser().parseFromString(page, "text/html").querySelector("img");
  if (picture === null) return;
  // The next page handles a picture that cannot be shown.
  await document
    .importNode(picture, true)
    .decode()
    .catch(() => undefined);
}
