const DEFAULT_WAIT_SECONDS = 2;

/** Looks again and again whether an image has been processed, and shows it without an empty page in between. */
export async function awaitImage(): Promise<void> {
  if (document.querySelector(".pending") === null) return;
  if (document.readyState !== "complete") {
    await new Promise((resolve) => window.addEventListener("load", resolve, { once: true }));
  }
  // Ends the browser's own looking again, which the reply's `Refresh` asks for and which begins with `load`.
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

/** `"ready"`, or after how many seconds to ask again. */
async function ask(): Promise<"ready" | number> {
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    const wait = Number(response.headers.get("Retry-After") ?? DEFAULT_WAIT_SECONDS);
    if (response.status === 202 || response.status === 503 || response.status === 429) return wait;
    if (response.headers.get("Content-Type")?.startsWith("text/html")) await warm(await response.text());
    return "ready";
  } catch {
    // No network at the moment.
    return DEFAULT_WAIT_SECONDS;
  }
}

/** Has the picture of the page to come in the cache before that page is shown. */
async function warm(page: string): Promise<void> {
  const picture = new DOMParser().parseFromString(page, "text/html").querySelector("img");
  if (picture === null) return;
  // What cannot be shown is the business of the page to come.
  await document
    .importNode(picture, true)
    .decode()
    .catch(() => undefined);
}
