import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";

/** Path of the Chromium that the test run found or installed. */
const chromiumPath = process.env.OUTRIGGER_CHROMIUM ?? "/usr/bin/chromium";

/** A browser for many contexts, each with its own settings. It sends no requests besides those of the pages. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath,
    headless: true,
    handleSIGTERM: false,
    // In the locale C, Chromium saves no file under a name with an umlaut.
    env: { ...process.env, LANG: "C.UTF-8" },
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

let shared: Promise<Browser> | undefined;

/** The browser of all files of a worker. Vitest ends a worker by SIGTERM, and an exit ends the browser. */
function sharedChromium(): Promise<Browser> {
  if (shared === undefined) process.once("SIGTERM", () => process.exit());
  shared ??= launchChromium();
  return shared;
}

/** A context of the shared browser. A failure names what it waited for. */
export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await (await sharedChromium()).newContext(options);
  // Almost as long as a test may last.
  context.setDefaultTimeout(100_000);
  return context;
}

/** Gives `use` a page of a context of its own, and closes both. */
export async function withPage<T>(
  options: BrowserContextOptions,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await newContext(options);
  try {
    return await use(await context.newPage());
  } finally {
    await context.close();
  }
}

/** What a page complains of: errors, and what its policy forbade. An icon for the whole site is the host's to have. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    const { type, text, url } = { type: message.type(), text: message.text(), url: message.location().url };
    if (["error", "warning"].includes(type) && !url.endsWith("/favicon.ico")) complaints.push(text);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return complaints;
}

const WIDTHS = [320, 768, 1440] as const;

/** The widths of windows, of a telephone, a tablet and a desk, in which a page is wider than its window. */
export async function overflowsOf(page: Page): Promise<number[]> {
  const overflows: number[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const isWider = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
    if (isWider) overflows.push(width);
  }
  return overflows;
}
