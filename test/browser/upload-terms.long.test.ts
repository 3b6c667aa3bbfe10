import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withSite } from "../support/quick-site.ts";
import type { Created } from "../support/service.ts";
import {
  choose,
  copied,
  entryOf,
  linkOf,
  onUploadPage,
  readList,
  recordAt,
  shareUploadPage,
  storedAt,
} from "./upload-page.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const shared = shareUploadPage();
const { boat, add, onPage } = shared;
const stored = (page: Page, name: string) => storedAt(shared.site, page, name);
const leftMs = ({ expiresAt }: Created) => Date.parse(String(expiresAt)) - Date.now();

test("the next images get the chosen name and lifetime, and wait while a date is past, half typed or missing", async () => {
  await onPage(
    async (page) => {
      const lifetime = page.getByLabel("Delete after");
      await page.getByLabel("Name (optional)").fill("Regatta");
      await lifetime.selectOption("7 days");
      await choose(page, boat(), boat("other.jpg"));
      expect(leftMs(await stored(page, "Regatta")) / DAY_MS).toBeCloseTo(7, 1);
      await stored(page, "Regatta (2)");
      // The longest one.
      await lifetime.selectOption("365 days");
      await choose(page, boat("kept.jpg"));
      expect(leftMs(await stored(page, "kept.jpg"))).toBeGreaterThan(364 * DAY_MS);

      await lifetime.selectOption("On a date…");
      const date = page.getByLabel("Delete on");
      await date.focus();
      await page.keyboard.press("Delete");
      const alert = page.getByRole("alert");
      await alert.getByText("Enter a date and a time.").waitFor();
      await choose(page, boat("waiting.jpg"));
      await alert.getByText("1 file waits for the date.").waitFor();
      await lifetime.selectOption("1 hour");
      expect(leftMs(await stored(page, "waiting.jpg")) / HOUR_MS).toBeCloseTo(1, 1);

      await lifetime.selectOption("On a date…");
      await date.fill("2001-01-01T00:00");
      await choose(page, boat("one.jpg"), boat("two.jpg"));
      await alert.getByText("Choose a time in the future. 2 files wait for the date.").waitFor();
      expect(await date.inputValue()).toBe("2001-01-01T00:00");
      expect(await page.locator(".entry").count()).toBe(4);
      const right = new Date(Date.now() + 10 * DAY_MS).toISOString().slice(0, 16);
      await date.fill(right);
      for (const name of ["one.jpg", "two.jpg"])
        expect((await stored(page, name)).expiresAt).toBe(`${right}:00.000Z`);
      expect(await alert.count()).toBe(0);
    },
    { timezoneId: "UTC" },
  );
});

test("where the service sets no longest lifetime, an image that is kept for ever says so, also after a reload, which remembers the choice", async () => {
  await withSite({ maxLifetimeMs: null }, async (site) => {
    await onUploadPage(site, async (page) => {
      await page.getByLabel("Delete after").selectOption("Never");
      await choose(page, boat());
      const entry = entryOf(page, "boat.jpg");
      await entry.getByText("never expires").waitFor();
      expect((await recordAt(site, await linkOf(entry))).expiresAt).toBe(null);
      await page.reload();
      await entry.getByText("never expires").waitFor();
      expect(await readList(page, site)).toMatchObject([{ name: "boat.jpg", expiresAt: null }]);
      expect(await page.getByLabel("Delete after").inputValue()).toBe("Infinity");
      await page.getByLabel("Delete after").selectOption("On a date…");
      await page.getByLabel("Delete on").fill("9999-01-01T00:00");
      await choose(page, boat("dated.jpg"));
      expect(String((await storedAt(site, page, "dated.jpg")).expiresAt)).toMatch(/^999[89]-/);
      await page.goto(await linkOf(entry));
      expect(await page.locator("dt", { hasText: "Expires" }).locator("+ dd").textContent()).toBe("Never");
    });
  });
});

test.each([
  ["65 minutes fast", 65 * 60_000],
  ["a year slow", -400 * DAY_MS],
])(
  "on a device whose clock is %s, an hour is an hour, and the edit page shows the expiry that it sets",
  async (_, aheadMs) => {
    const image = await add("boat.jpg");
    await onPage(async (page) => {
      await page.clock.install({ time: Date.now() + aheadMs });
      await page.reload();
      await page.getByLabel("Delete after").selectOption("1 hour");
      await choose(page, boat());
      expect(leftMs(await stored(page, "boat.jpg")) / HOUR_MS).toBeCloseTo(1, 1);
      await entryOf(page, "boat.jpg")
        .getByText(/(59|60) minutes left/)
        .waitFor();

      const begunMs = Date.now();
      await page.goto(image.editUrl);
      await page.getByLabel("Time from now").selectOption("7 days");
      const shown = await page.getByText(/^New expiry/).textContent();
      const wanted = new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short", year: "numeric" });
      const days = [begunMs, Date.now()].map((at) => wanted.format(at + 7 * DAY_MS));
      expect(shown).toMatch(new RegExp(days.join("|")));
      await page.getByRole("button", { name: "Save changes" }).click();
      await page.locator(".notice").waitFor();
      expect(leftMs(await recordAt(shared.site, `${image.url}/view`)) / DAY_MS).toBeCloseTo(7, 1);
    });
  },
);

test.each([
  ["forbidden", "This browser can’t keep your edit link. Copy it now.", 1],
  ["full", "This browser can’t keep your edit links. Copy them now.", 2],
] as const)(
  "with storage that is %s, the page says %j, and leaving is questioned until that is done",
  async (how, text, count) => {
    await onPage(async (page) => {
      await page.addInitScript((way) => {
        const fail = (): never => {
          throw new DOMException("no", way === "full" ? "QuotaExceededError" : "SecurityError");
        };
        if (way === "full") Storage.prototype.setItem = fail;
        else Object.defineProperty(window, "localStorage", { get: fail });
      }, how);
      await page.reload();
      await choose(page, ...["one.jpg", "two.jpg"].slice(0, count).map(boat));
      const notice = page.locator(".risk");
      await notice.getByText(text).waitFor();
      const asked = page.waitForEvent("dialog");
      void page.reload().catch(() => undefined);
      expect((await asked).type()).toBe("beforeunload");
      await (await asked).dismiss();
      const links = (await copied(page, notice.getByRole("button", { name: "Copy edit link" }))).split("\n");
      expect(links).toEqual(Array(count).fill(expect.stringMatching(/\/edit\?pin=[0-9A-Z]{16}$/)));
      await notice.waitFor({ state: "detached" });
      await page.reload();
      await page.getByText("Drop images here").waitFor();
      for (const link of links) expect((await page.request.get(link)).status()).toBe(200);
    });
  },
);
