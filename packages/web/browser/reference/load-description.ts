/** The part of the API description that the page reads and changes. */
export interface Description {
  servers?: { url: string }[];
  tags?: { name: string }[];
  paths: Record<string, Record<string, unknown>>;
}

/** Header parameters that a page cannot set: the browser sends its own value. */
const SET_BY_BROWSER: ReadonlySet<unknown> = new Set(["User-Agent"]);

/**
 * The description of the API at `base`, reduced to what this page can show and send. The document itself stays complete.
 *
 * @throws Error when the server does not return it.
 */
export async function loadDescription(base: string): Promise<Description> {
  const response = await fetch(`${base}/api/openapi.json`);
  if (!response.ok) throw new Error(`The server replied ${response.status}.`);
  return forPage(await response.json(), base);
}

function forPage(whole: Description, base: string): Description {
  const description = reduced(whole) as Description; // It only lacks parts that are optional.
  const headTags = new Set<unknown>();
  for (const operations of Object.values(description.paths)) {
    // HEAD repeats GET without a body, and would double the menu.
    for (const tag of listIn(operations.head, "tags")) headTags.add(tag);
    delete operations.head;
  }
  for (const operations of Object.values(description.paths)) {
    for (const each of Object.values(operations))
      for (const tag of listIn(each, "tags")) headTags.delete(tag);
  }
  return {
    ...description,
    tags: (description.tags ?? []).filter(({ name }) => !headTags.has(name)),
    // Requests must go to the origin of this page.
    servers: [{ url: base }],
  };
}

/** A copy without regular expressions, which few readers can use, and without headers that the browser sets itself. */
function reduced(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => !isSetByBrowser(each)).map(reduced);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) =>
      // A property of an image could have this name too, but would be a schema.
      key === "pattern" && typeof each === "string" ? [] : [[key, reduced(each)]],
    ),
  );
}

function isSetByBrowser(value: unknown): boolean {
  return isRecord(value) && value.in === "header" && SET_BY_BROWSER.has(value.name);
}

function listIn(value: unknown, key: string): readonly unknown[] {
  const list = isRecord(value) ? value[key] : undefined;
  return Array.isArray(list) ? list : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
