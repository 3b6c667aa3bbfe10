import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRenderer } from "@outrigger/imaging";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { overflowsOf } from "../support/chromium.ts";
import { halvesHeic } from "../support/heic-samples.ts";
import { animatedGif, emptyPdf, flatPsd, pngPhoto } from "../support/pictures.ts";
import { withSite } from "../support/quick-site.ts";
import {
  choose,
  copied,
  entryOf,
  hold,
  linkOf,
  menuItem,
  onUploadPage,
  recordAt,
  shareUploadPage,
  storedAt,
  textFile,
} from "./upload-page.ts";

const labelledSvg = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 24"><rect width="40" height="24"/><foreignObject width="40" height="24"><div xmlns="http://www.w3.org/1999/xhtml"><span>Start</span></div></foreignObject></svg>`,
);

const renderer = createRenderer({ timeoutMs: 60_000 });
const CONVERTED = ["webp", "avif", "tiff", "heic"] as const;
const shared = shareUploadPage({ mountPath: "/deep/img", renderer, convertUploads: CONVERTED });
const { boat, onPage } = shared;
const stored = (page: Page, name: string) => storedAt(shared.site, page, name);

test("every kind of chosen file uploads, the row names what it was and what is not kept, and another kind gets a reason", async () => {
  const photo = sharp(shared.photo);
  /** The label is of a type that the service converts. */
  const files: [name: string, buffer: Buffer, type: string, label?: string][] = [
    ["boat.jpg", shared.photo, "image/jpeg"],
    ["sea.png", await pngPhoto(60, 40), "image/png"],
    ["wave.gif", await animatedGif(2, 40, 30), "image/gif"],
    ["steps.svg", labelledSvg, "image/svg+xml"],
    ["plan.psd", flatPsd(), "image/x-photoshop"],
    ["log.pdf", emptyPdf(), "application/pdf"],
    ["in truth a photo.png", shared.photo, "image/jpeg"],
    ["boat.webp", await photo.clone().webp().toBuffer(), "image/webp", "WebP"],
    ["boat.avif", await photo.clone().avif({ effort: 0 }).toBuffer(), "image/avif", "AVIF"],
    ["boat.tiff", await photo.clone().tiff().toBuffer(), "image/tiff", "TIFF"],
    ["boat.heic", halvesHeic, "image/heic", "HEIC"],
  ];
  await onPage(async (page) => {
    await choose(page, ...files.map(([name, buffer]) => ({ name, mimeType: "", buffer })), textFile());
    await page.getByRole("heading", { name: "11 ready · 1 not uploaded" }).waitFor();
    for (const [name, , type, label] of files) {
      const field = label === undefined ? "type" : "source";
      expect(await stored(page, name)).toMatchObject({ name, [field]: type });
      if (label !== undefined) await entryOf(page, name).getByText(`from ${label}`).waitFor();
    }
    await entryOf(page, "steps.svg").getByText("Not kept: text in HTML").waitFor();
    expect(await page.getByText("Not kept").count()).toBe(1);
    expect(await entryOf(page, "notes.txt").textContent()).toContain(
      "Use PNG, JPEG, GIF, SVG, PSD, PDF, WebP, AVIF, TIFF, or HEIC.",
    );
    const pictures = page.locator(".entry a.thumbnail img");
    await expect.poll(() => pictures.count()).toBe(11);
    const areShown = () =>
      pictures.evaluateAll((all) => all.every((img) => (img as HTMLImageElement).naturalWidth > 0));
    await expect.poll(areShown).toBe(true);
    await page.reload();
    await entryOf(page, "boat.avif").getByText("from AVIF").waitFor();
  });
});

test("after a 202 the page waits until the image is served, and then says what is not kept", async () => {
  await withSite({ asyncAfterMs: 0, renderer: createRenderer({ timeoutMs: 60_000 }) }, async (site) => {
    await onUploadPage(site, async (page) => {
      const letGo = await hold(page, "**/api/images/*.json");
      await choose(page, { name: "steps.svg", mimeType: "image/svg+xml", buffer: labelledSvg });
      const entry = page.locator(".entry");
      await entry.getByText("Uploaded. Preparing the preview…").waitFor();
      expect(await entry.getByRole("button").count()).toBe(0);
      letGo();
      await page.getByRole("heading", { name: "Your image is ready to share" }).waitFor();
      await entry.getByText("Not kept: text in HTML").waitFor();
      await recordAt(site, await linkOf(entry));
    });
  });
});

test("files and folders dropped anywhere and pasted pictures upload; a text gets a hint, and is inserted into a field", async () => {
  const folder = await mkdtemp(join(tmpdir(), "outrigger-drop-"));
  await mkdir(join(folder, "trip", "deep"), { recursive: true });
  await writeFile(join(folder, "trip", "one.jpg"), shared.photo);
  await writeFile(join(folder, "trip", "deep", "two.jpg"), shared.photo);
  for (const dust of [".DS_Store", "Thumbs.db", "deep/desktop.ini"])
    await writeFile(join(folder, "trip", dust), "dust");
  await onPage(async (page) => {
    const field = "input:not([type=file], [readonly])";
    const text = { type: "text/plain", content: "A boat at dusk" };
    // The browser inserts the text itself unless the event is cancelled.
    expect(await hand(page, "drop", field, text)).toBe(true);
    expect(await page.locator(".advice").count()).toBe(0);
    expect(await hand(page, "drop", "main", text)).toBe(false);
    await page.locator(".advice").getByText("Drop the picture itself").waitFor();
    await hand(page, "paste", "main", text);
    const file = { type: "image/png", content: (await pngPhoto(60, 40)).toString("base64") };
    await hand(page, "paste", "main", { ...file, name: "image.png" });
    const pasted = page.locator(".entry .title");
    await expect.poll(() => pasted.textContent()).toMatch(/^pasted \d{4}-\d\d-\d\d .*\.png$/);
    await hand(page, "drop", "html", { ...file, name: "dropped.png" });
    expect(await stored(page, "dropped.png")).toMatchObject({ type: "image/png", width: 60 });

    const session = await page.context().newCDPSession(page);
    const data = { items: [], files: [join(folder, "trip")], dragOperationsMask: 1 };
    const drag = (type: "dragEnter" | "dragOver" | "drop") =>
      session.send("Input.dispatchDragEvent", { type, x: 100, y: 400, data });
    await drag("dragEnter");
    await drag("dragOver");
    await expect.poll(() => page.locator(".dragging").count()).toBe(1);
    await drag("drop");
    await page.getByRole("heading", { name: "4 images are ready to share" }).waitFor();
    expect(await page.locator(".dragging").count()).toBe(0);
    for (const name of ["one.jpg", "two.jpg"]) await stored(page, name);
  });
  await rm(folder, { recursive: true, force: true });
});

test("a row copies the link and the addresses of its image, and its menu works by keyboard", async () => {
  await onPage(async (page) => {
    await choose(page, boat());
    const entry = entryOf(page, "boat.jpg");
    const link = await copied(page, entry.getByRole("button", { name: "Copy link" }));
    expect(link).toMatch(new RegExp(`^${shared.site.base}/[\\w-]{22}/view$`));
    const { url, id } = await recordAt(shared.site, link);
    const controls = page.locator("a[href], button, select, input:not([capture])");
    const shown = await controls.evaluateAll((all) => all.filter((each) => each.checkVisibility()).length);
    expect(shown).toBeLessThanOrEqual(10);

    const more = page.getByRole("button", { name: "More for boat.jpg" });
    const isFocused = (element: Element) => element === document.activeElement;
    await more.press("Enter");
    const first = page.getByRole("button", { name: "Copy direct link" });
    await expect.poll(() => first.evaluate(isFocused)).toBe(true);
    expect(await more.getAttribute("aria-expanded")).toBe("true");
    expect([await overflowsOf(page), await axeFaults(page)]).toEqual([[], []]);
    await page.keyboard.press("Escape");
    await expect.poll(() => more.evaluate(isFocused)).toBe(true);
    expect(await first.count()).toBe(0);

    const press = async (name: string) => copied(page, await menuItem(entry, name));
    const address = await press("direct link");
    expect(address).toBe(`${shared.site.base}/api/images/${id}.jpg`);
    expect(Buffer.from(await (await fetch(address)).arrayBuffer()).equals(shared.photo)).toBe(true);
    expect(await press("Markdown")).toBe(`[![boat.jpg](${address})](${url}/view)`);
    const edit = await press("edit link");
    await entry.getByText("Anyone with the edit link can edit or delete the image.").waitFor();
    await page.goto(edit);
    await page.getByRole("button", { name: "Save changes" }).waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("boat.jpg");
  });
});

interface Handed {
  type: string;
  /** Of a file, whose content is in base64. Absent: the content is a text. */
  name?: string;
  content: string;
}

/** Drops or pastes a file or a text on an element. @returns whether the browser would insert it itself */
function hand(page: Page, how: "drop" | "paste", selector: string, handed: Handed): Promise<boolean> {
  return page.evaluate(
    ([kind, place, { type, name, content }]) => {
      const data = new DataTransfer();
      const bytes = () => Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
      if (name === undefined) data.setData(type, content);
      else data.items.add(new File([bytes()], name, { type }));
      const common = { bubbles: true, cancelable: true };
      const target = document.querySelector(place) as Element; // The page has each of them.
      if (kind === "paste")
        return target.dispatchEvent(new ClipboardEvent("paste", { ...common, clipboardData: data }));
      target.dispatchEvent(new DragEvent("dragover", { ...common, dataTransfer: data }));
      return target.dispatchEvent(new DragEvent("drop", { ...common, dataTransfer: data }));
    },
    [how, selector, handed] as const,
  );
}
