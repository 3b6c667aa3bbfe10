// Renews docs/screenshots: each page at three widths in both themes on one sheet, and the pictures of README and docs/pages.md.
// Needs a build and Chromium. Give names of pages to renew only these.
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { express as mount } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { createAdminPages, createPages } from "@outrigger/web";
import express from "express";
import { chromium } from "playwright-core";
import sharp from "sharp";
import { ensureServices } from "./services.mjs";

const folder = fileURLToPath(new URL("../docs/screenshots/", import.meta.url));
const WIDTHS = [360, 768, 1280];
const HEIGHT = 900;
const GAP = 24;

const drawing = (sky, sea) => `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="800">
<rect width="1200" height="800" fill="${sky}"/><circle cx="950" cy="190" r="70" fill="#fbe28b"/>
<path d="M390 490 L510 140 V490Z" fill="#f1ead9"/><path d="M520 140 L665 490 H520Z" fill="#fff"/>
<path d="M0 530 Q150 490 300 520 T620 530 T900 520 T1200 525 V800 H0Z" fill="${sea}"/>
<path d="M350 515 H690 L655 590 H400Z" fill="#7c341c"/></svg>`;
const boat = (sky, sea) =>
  sharp(Buffer.from(drawing(sky, sea)))
    .withExif({ IFD0: { Model: "Camera" } })
    .jpeg({ quality: 90 })
    .toBuffer();
const fileOf = (name, buffer, mimeType = "image/jpeg") => ({ name, mimeType, buffer });
const harbour = fileOf("harbour.jpg", await boat("#9fd5ee", "#2b6ca6"));
const evening = fileOf("evening.jpg", await boat("#f6b07c", "#5b4b7a"));
const broken = fileOf("notes.jpg", Buffer.from("These are notes, not a picture."));

/** Each page by its name: opens it in a tab. */
const PAGES = {
  "upload-empty": (tab, site) => open(tab, `${site.base}/`),
  "upload-stored": async (tab, site) => {
    await choose(tab, site, [harbour, evening, broken]);
    await tab.locator(".entry.failed").waitFor();
  },
  "upload-menu": async (tab, site) => {
    await choose(tab, site, [harbour, evening]);
    await tab.locator(".entry button[popovertarget]").first().click();
  },
  viewer: (tab, site) => open(tab, site.viewer),
  "viewer-share": async (tab, site) => {
    await open(tab, site.viewer);
    await tab.locator(".toolbar summary").last().click();
    await tab.waitForTimeout(600);
  },
  edit: (tab, site) => open(tab, site.edit),
  pin: (tab, site) => open(tab, site.edit.replace(/\?.*/, "")),
  report: (tab, site) => open(tab, site.report),
  problem: (tab, site) => open(tab, site.gone),
  admin: (tab, site) => open(tab, site.admin),
};

async function open(tab, address) {
  await tab.goto(address, { waitUntil: "networkidle" });
}

async function choose(tab, site, files) {
  await open(tab, `${site.base}/`);
  await tab.setInputFiles("input[type=file]", files);
  await tab.locator("a.thumbnail").nth(1).waitFor();
  await tab.mouse.move(5, 5);
  await tab.waitForTimeout(1200);
}

async function startSite(directory) {
  const images = createImages({
    storage: createFsBlobStore({ directory }),
    renderer: createRenderer(),
    pages: createPages({ contact: "mailto:help@example.com", terms: "https://example.com/terms" }),
    secret: "a secret of thirty-two characters",
    reports: true,
    rateLimits: false,
  });
  const app = express();
  app.use("/admin", mount(createAdminPages({ images, authorize: () => ({ by: "operator" }) })));
  app.use(mount(images));
  const server = createServer(app);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${server.address().port}`;
  const image = await upload(base, harbour);
  const gone = await upload(base, evening);
  await images.remove(gone.id);
  return {
    ...{ base, viewer: image.viewUrl, edit: image.editUrl, admin: `${base}/admin/` },
    ...{ report: `${base}/${image.id}/report`, gone: gone.viewUrl },
    async close() {
      server.close();
      server.closeAllConnections();
      await images.close();
    },
  };
}

async function upload(base, { name, mimeType, buffer }) {
  const body = new FormData();
  body.set("imagedata", new Blob([buffer], { type: mimeType }), name);
  const reply = await fetch(`${base}/api/images.json`, {
    method: "POST",
    body,
    headers: { "User-Agent": "Mozilla/5.0" },
  });
  const { id, editUrl } = await reply.json();
  return { id, viewUrl: `${base}/${id}/view`, editUrl };
}

/** One picture of a page. */
async function shot(browser, site, show, { width, height = HEIGHT, colorScheme = "light", scale = 1 }) {
  const context = await browser.newContext({
    ...{ viewport: { width, height }, colorScheme, deviceScaleFactor: scale, locale: "en-GB" },
  });
  try {
    const tab = await context.newPage();
    await show(tab, site);
    return await tab.screenshot({ animations: "disabled" });
  } finally {
    await context.close();
  }
}

async function save(name, picture) {
  await picture.png({ palette: true, quality: 80, effort: 10 }).toFile(join(folder, `${name}.png`));
  console.log(name);
}

/** A page at all widths, light above dark, at half its size. */
async function sheet(browser, site, name, show) {
  const parts = [];
  for (const [row, colorScheme] of ["light", "dark"].entries()) {
    let left = GAP;
    for (const width of WIDTHS) {
      const input = await shot(browser, site, show, { width, colorScheme });
      parts.push({ input, left, top: GAP + row * (HEIGHT + GAP) });
      left += width + GAP;
    }
  }
  const width = WIDTHS.reduce((sum, each) => sum + each + GAP, GAP);
  const create = { width, height: 2 * (HEIGHT + GAP) + GAP, channels: 3, background: "#8a8f98" };
  const whole = await sharp({ create }).composite(parts).png().toBuffer();
  await save(`all-${name}`, sharp(whole).resize({ width: Math.round(width / 2) }));
}

const { environment } = ensureServices();
const wanted = process.argv.slice(2);
const directory = await mkdtemp(join(tmpdir(), "screenshots-"));
const site = await startSite(directory);
const browser = await chromium.launch({
  executablePath: environment.OUTRIGGER_CHROMIUM,
  args: [...(process.getuid() === 0 ? ["--no-sandbox"] : []), "--disable-gpu"],
});
try {
  for (const [name, show] of Object.entries(PAGES)) {
    if (wanted.length === 0 || wanted.includes(name)) await sheet(browser, site, name, show);
  }
  if (wanted.length === 0) {
    const stored = (tab) => choose(tab, site, [harbour, evening]);
    const single = async (name, show, view) => save(name, sharp(await shot(browser, site, show, view)));
    await single("upload", stored, { width: 1100, height: 640 });
    await single("upload-dark", stored, { width: 1100, height: 640, colorScheme: "dark" });
    await single("upload-phone", stored, { width: 390, height: 844, scale: 2 });
    await single("viewer", PAGES.viewer, { width: 1100, height: 800 });
    await single("edit", PAGES.edit, { width: 1100, height: 1100 });
  }
} finally {
  await browser.close();
  await site.close();
  await rm(directory, { recursive: true });
}
