import type { Page } from "@outrigger/core/images";
import { describe, expect, it } from "vitest";
import { EDIT, IMAGE, NOW, REPORT } from "../../test/views.ts";
import { createPages } from "../pages.ts";
import en from "./en.json" with { type: "json" };

/** Every text in brackets and longer, so that a text beside the catalogue is seen. */
const PSEUDO = Object.fromEntries(
  Object.entries(en).map(([key, text]) => [key, `⟦${text}${"·".repeat(Math.ceil(text.length * 0.4))}⟧`]),
);
/** Data, names of formats and products, and amounts and dates that `Intl` writes. */
const DATA =
  /^(?:Harbour(?: · Outrigger)?|(?:· )?Outrigger|Shutter .*|[A-Z]{3}|WebP|AVIF|HTML|Markdown|BBCode|.* UTC|\d+ kB|\d+ (?:hours?|days?)|[0-9A-Z]{16}|UTC|\d{1,3}|https:\S+|curl .*|API|(?:API)?ShareX|·|\W*)$/;

/** The visible texts of a page, and those of its attributes, that do not come from the catalogue. */
function foreignTexts({ html }: Page): string[] {
  const body = html.replace(/<(style|script)\b.*?<\/\1>/gs, "");
  const shown = body.replace(/<(?:[^>"]|"[^"]*")*>/g, (tag) => {
    const attributes = [...tag.matchAll(/ (?:title|alt|aria-label|placeholder)="([^"]*)"/g)];
    const texts = attributes.map(([, text]) => `\n${text}\n`).join("");
    return /^<\/?(?:b|code|time|a)\b/.test(tag) ? texts : `${texts}\n`;
  });
  let left = shown.replace(/\s*\n\s*/g, "\n");
  for (let before = ""; before !== left; ) {
    before = left;
    left = left.replace(/⟦[^⟦⟧]*⟧/g, "");
  }
  return left.split("\n").filter((text) => !DATA.test(text.trim()));
}

describe("no text of a page stands beside the catalogue:", () => {
  const pages = createPages({ messages: { en: PSEUDO } });
  const upload = {
    baseUrl: IMAGE.baseUrl,
    types: ["image/png", "image/gif"] as const,
    maxUploadBytes: 1_000_000,
    defaultLifetimeMs: 86_400_000,
    maxLifetimeMs: 31_536_000_000,
    sizes: "any" as const,
  };
  const form = { action: `${IMAGE.baseUrl}/`, fileField: "imagedata" };
  const editUrl = `${IMAGE.baseUrl}/${IMAGE.id}/edit?pin=${EDIT.pin}`;
  const lock = { baseUrl: IMAGE.baseUrl, action: `${IMAGE.baseUrl}/edit`, viewUrl: IMAGE.viewUrl };
  const faults = {
    name: "Enter a name.",
    confirm: "Tick the box to confirm.",
    focusX: "Enter a number from 0 to 100.",
  };

  const DOCUMENT = { type: "application/pdf", pages: 3, page: 2, warnings: ["first_page_only"] } as const;
  const PROBLEM = { baseUrl: IMAGE.baseUrl, title: "", detail: "" };

  it.each<[string, () => Page | undefined]>([
    ["upload page", () => pages.upload({ ...upload, form }, NOW)],
    ["upload page without a form", () => pages.upload(upload, NOW)],
    ["refused upload", () => pages.upload({ ...upload, form, refusal: { status: 413, detail: "" } }, NOW)],
    ["stored upload", () => pages.created?.({ image: IMAGE, editUrl, pin: EDIT.pin })],
    ["edit page", () => pages.edit(EDIT, NOW)],
    [
      "edit page after a change",
      () => pages.edit({ ...EDIT, notice: "Name updated. Focal point removed." }, NOW),
    ],
    ["rejected edit form", () => pages.edit({ ...EDIT, faults }, NOW)],
    ["page that asks for the PIN", () => pages.unlock({ ...lock, problem: "Incorrect PIN" })],
    ["viewer", () => pages.viewer({ ...IMAGE, description: "Harbour" }, NOW)],
    ["viewer of a document", () => pages.viewer({ ...IMAGE, ...DOCUMENT }, NOW)],
    ["report form", () => pages.report?.(REPORT)],
    ...[202, 400, 401, 403, 404, 410, 413, 429, 451, 500, 501, 503, 507].map(
      (status): [string, () => Page] => [
        `page of a ${status}`,
        () => pages.problem({ ...PROBLEM, status, retryAfterSeconds: 5 }),
      ],
    ),
  ])("%s", (_name, render) => {
    const page = render();
    expect(page?.html).toContain("⟦");
    expect(page === undefined ? [] : foreignTexts(page)).toEqual([]);
  });
});
