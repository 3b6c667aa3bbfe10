import { expect, test } from "vitest";
import { created, type SiteOptions } from "../../../../test/image-site.ts";
import { createLifeSite } from "../../../../test/life-site.ts";
import { textPages } from "../../../../test/text-pages.ts";
import type { EditView, Pages, ProblemView } from "../../../contracts/pages.ts";

const HTML = { headers: { accept: "text/html" } };
const DAY = 86_400_000;

async function siteWithImage(options: SiteOptions = {}) {
  const problems: ProblemView[] = [];
  const edits: EditView[] = [];
  const pages: Pages = {
    ...textPages,
    edit(view, nowMs) {
      edits.push(view);
      return textPages.edit(view, nowMs);
    },
    problem(view) {
      problems.push(view);
      return textPages.problem(view);
    },
  };
  const site = createLifeSite({ pages, ...options });
  const { id, pin } = created(await site.create());
  const post = (fields: Record<string, string>) =>
    site.send("POST", `/${id}/edit`, { fields: { pin, action: "update", ...fields } });
  /** Sends the form, and returns the notice of the page that follows. */
  async function change(fields: Record<string, string>) {
    const answer = await post(fields);
    expect(answer.status).toBe(303);
    const { search } = new URL(String(answer.headers.Location));
    return (await site.send("GET", `/${id}/edit`, { search: search.slice(1) })).text;
  }
  return { site, problems, edits, id, pin, post, change };
}

test("the edit page confirms which of name and expiry the form has changed", async () => {
  const { change } = await siteWithImage();
  expect(await change({ name: "After" })).toContain("Name updated. ");
  expect(await change({ name: "After", expiresIn: String(3 * DAY) })).toContain(
    "links. Expiry changed to 2026-03-04T12:00:00.000Z.",
  );
  expect(await change({ name: "Last", expiresAt: "2026-03-09T08:30" })).toContain(
    "Name updated. Expiry changed to 2026-03-09T08:30:00.000Z.",
  );
});

test("a form that changes nothing writes nothing, and the page says so", async () => {
  const { site, id, change } = await siteWithImage();
  const record = () => site.send("GET", `/api/images/${id}.json`);
  const before = await record();
  expect(await change({ name: String(before.json.name), expiresAt: "2026-03-02T12:00:00" })).toContain(
    "No changes to save.",
  );
  expect((await record()).headers.ETag).toBe(before.headers.ETag);
});

test("a date without a zone counts as UTC in the form only", async () => {
  const { site, id, pin, post } = await siteWithImage();
  const date = "2026-03-05T10:00";
  const search = new URLSearchParams({ pin, expiresAt: date }).toString();
  expect((await site.send("PATCH", `/api/images/${id}.json`, { search })).status).toBe(400);
  expect((await post({ expiresAt: date })).status).toBe(303);
  expect((await post({ expiresAt: "2026-02-30T10:00" })).status).toBe(400);
  expect((await site.send("GET", `/api/images/${id}.json`)).json.expiresAt).toBe("2026-03-05T10:00:00.000Z");
});

test("a rejected form is shown again as it was sent, with a message for each wrong field", async () => {
  const { site, id, post, edits } = await siteWithImage();
  for (const [fields, faults] of [
    [{ name: " ", expiry: "keep" }, { name: "Enter a name." }],
    [{ name: "x".repeat(256) }, { name: "Enter a name of at most 255 characters." }],
    [{ expiry: "in" }, { expiresIn: "Choose a duration." }],
    [{ expiry: "in", expiresIn: "soon" }, { expiresIn: "Choose a duration." }],
    [{ expiry: "on" }, { expiresAt: "Enter a date and a time." }],
    [{ expiry: "on", expiresAt: "2026-03-01T12:00" }, { expiresAt: "Choose a time in the future." }],
    [
      { expiry: "on", expiresAt: "2031-03-01T12:00" },
      { expiresAt: "Choose a time before 2027-03-01T12:00:00.000Z." },
    ],
    [
      { name: "", expiresIn: "0" },
      { name: "Enter a name.", expiresIn: "Choose a time in the future." },
    ],
  ] as const) {
    expect((await post(fields)).status).toBe(400);
    const view = edits.at(-1);
    expect([view?.faults, view?.problem]).toEqual([faults, undefined]);
    expect(view?.typed).toMatchObject(fields);
  }
  expect((await post({ action: "delete" })).status).toBe(400);
  expect(edits.at(-1)?.faults).toEqual({ confirm: "Tick the box to confirm." });
  expect((await site.send("GET", `/api/images/${id}.json`)).json.expiresAt).toBe("2026-03-02T12:00:00.000Z");
});

test("the form sets the focus in percent, removes it by two empty fields, and keeps it without the fields", async () => {
  const { site, id, change, edits } = await siteWithImage();
  const focus = async () => (await site.send("GET", `/api/images/${id}.json`)).json.focus;
  expect(await change({ focusX: "33.333", focusY: "7.0" })).toContain("Focal point updated. ");
  expect(await focus()).toEqual([0.3333, 0.07]);
  expect(edits.at(-1)?.image.focus).toEqual([0.3333, 0.07]);
  expect(await change({ focusX: "33.33", focusY: "7" })).toContain("No changes to save.");
  expect(await change({ name: "After" })).toContain("Name updated. ");
  expect(await focus()).toEqual([0.3333, 0.07]);
  expect(await change({ focusX: "", focusY: "", name: "Last" })).toContain(
    "Name updated. Focal point removed.",
  );
  expect(await focus()).toBeNull();
  expect(await change({ focusX: "", focusY: "" })).toContain("No changes to save.");
});

test.each([
  [
    { focusX: "110", focusY: "-1" },
    { focusX: "Enter a number from 0 to 100.", focusY: "Enter a number from 0 to 100." },
  ],
  [{ focusX: "50", focusY: "" }, { focusY: "Enter both numbers, or clear both to keep the centre." }],
  [{ focusX: "1e1", focusY: "0" }, { focusX: "Enter a number from 0 to 100." }],
  [
    { focusX: "0,5", focusY: "0", name: " " },
    { focusX: "Enter a number from 0 to 100.", name: "Enter a name." },
  ],
])(
  "the form refuses the focus %j with a message at each wrong field, and changes nothing",
  async (sent, faults) => {
    const { site, id, post, edits } = await siteWithImage();
    expect((await post(sent)).status).toBe(400);
    expect([edits.at(-1)?.faults, edits.at(-1)?.problem]).toEqual([faults, undefined]);
    expect(edits.at(-1)?.typed).toMatchObject(sent);
    expect((await site.send("GET", `/api/images/${id}.json`)).json.focus).toBeNull();
  },
);

test("a value in the field that was not chosen is rejected, and never ignored", async () => {
  const { post, edits } = await siteWithImage();
  const date = { expiresAt: "2026-03-09T08:30" };
  const duration = { expiresIn: String(DAY) };
  for (const [fields, field] of [
    [{ expiry: "keep", ...date }, "expiresAt"],
    [{ expiry: "keep", ...duration }, "expiresIn"],
    [{ expiry: "in", ...duration, ...date }, "expiresAt"],
    [{ expiry: "on", ...duration, ...date }, "expiresIn"],
    [{ ...duration, ...date }, "expiresAt"],
  ] as const) {
    expect((await post(fields)).status).toBe(400);
    expect(edits.at(-1)?.faults?.[field]).toMatch(/^You chose “.+clear this field\.$/);
  }
});

test("the date of the form counts in the time zone that a script sends with it", async () => {
  const { site, id, post } = await siteWithImage();
  const sent = { expiry: "on", expiresAt: "2026-03-05T10:00", utcOffset: "+09:00" };
  expect((await post(sent)).status).toBe(303);
  expect((await site.send("GET", `/api/images/${id}.json`)).json.expiresAt).toBe("2026-03-05T01:00:00.000Z");
});

test("after too many wrong PINs the page that asks for the PIN shows how long to wait", async () => {
  const { site, id, pin } = await siteWithImage({ rateLimits: { pinFailures: 1 } });
  const ask = (search: string) => site.send("GET", `/${id}/edit`, { ...HTML, search });
  expect((await ask("pin=wrong")).status).toBe(403);
  const { status, headers, text } = await ask(`pin=${pin}`);
  expect(status).toBe(429);
  expect(headers).toMatchObject({
    "Retry-After": "60",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
  });
  expect(text).toMatch(/^unlock .* Try again in 60 seconds\.$/);
  const program = await site.send("GET", `/${id}/edit`, { search: `pin=${pin}` });
  expect([program.status, program.json.status]).toEqual([429, 429]);
});

test("after a deletion by the form the page confirms it; for an expired image the same address does not", async () => {
  const { site, id, post, problems } = await siteWithImage();
  const other = created(await site.create()).id;
  const deleted = await post({ action: "delete", confirm: "yes" });
  const { pathname, search } = new URL(String(deleted.headers.Location));
  expect([deleted.status, pathname]).toEqual([303, `/${id}/view`]);
  site.clock.now += DAY;
  for (const path of [pathname, `/${other}/view`]) {
    expect((await site.send("GET", path, { ...HTML, search: search.slice(1) })).status).toBe(410);
  }
  await site.send("GET", pathname, HTML);
  expect(problems.map(({ justDeleted }) => justDeleted)).toEqual([true, undefined, undefined]);
});

test("pages get the reader's languages, and name them in Vary beside what the reply itself varies by", async () => {
  const asked: unknown[] = [];
  const pages: Pages = {
    ...textPages,
    viewer(view, nowMs) {
      asked.push(view.acceptLanguage);
      return {
        ...textPages.viewer(view, nowMs),
        headers: { "Content-Language": "de", Vary: "Accept-Language" },
      };
    },
  };
  const { site, id } = await siteWithImage({ pages });
  const headers = { accept: "text/html", "accept-language": "de-AT, en;q=0.5" };
  const landing = await site.send("GET", `/${id}`, { headers });
  expect(landing.headers).toMatchObject({ Vary: "Accept, Accept-Language", "Content-Language": "de" });
  expect((await site.send("GET", `/${id}/view`, HTML)).headers.Vary).toBe("Accept-Language");
  expect(asked).toEqual([headers["accept-language"], undefined]);
});

test("the viewer's form gets a file to save, in the format, quality and size that it names", async () => {
  const { site, id } = await siteWithImage();
  const send = (search: string) => site.send("GET", `/${id}/view`, { search, ...HTML });
  const { status, headers } = await send("download=jpg%3Fconvert%3Dlow&resize=3x3");
  expect([status, headers["Content-Type"]]).toEqual([200, "image/jpeg"]);
  expect(headers["Content-Disposition"]).toMatch(/^attachment; filename="[^"]+\.jpg"/);
  for (const search of [
    "download=exe",
    "download=.png",
    "download=png%3Fresize%3Dx",
    "download=png&resize=x",
  ])
    expect([search, (await send(search)).status]).toEqual([search, 400]);
  expect((await send("download=&resize=x")).headers["Content-Type"]).toMatch(/^text\/html/);
});

test("the viewer's form opens no size that needs a signature, and no image that is withheld or not permitted", async () => {
  const { site, id } = await siteWithImage({ sizes: "signed" });
  const status = async (search: string) => (await site.send("GET", `/${id}/view`, { search })).status;
  expect(await status("download=jpg%3Fresize%3D3x3")).toBe(403);
  expect(await status("download=jpg&resize=3x3")).toBe(403);
  await site.images.withhold(id, { reason: "By order." });
  expect(await status("download=png")).toBe(451);
  const closed = await siteWithImage({ authorize: (_call, action) => action !== "read" });
  expect((await closed.site.send("GET", `/${closed.id}/view`, { search: "download=png" })).status).toBe(403);
});
