import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { choose, entryOf, linkOf, recordAt, shareUploadPage } from "./upload-page.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Makes the device's clock wrong, before any script of a page runs. */
function shiftClock(page: Page, aheadMs: number): Promise<unknown> {
  return page.addInitScript((shift) => {
    const Right = Date;
    window.Date = class extends Right {
      constructor(...given: unknown[]) {
        super(...((given.length === 0 ? [Right.now() + shift] : given) as [number]));
      }
      static override now() {
        return Right.now() + shift;
      }
    } as DateConstructor;
  }, aheadMs);
}

const CLOCKS = [65 * 60_000, -65 * 60_000, 400 * DAY_MS, -400 * DAY_MS].map((ms) => ({
  clock: `${Math.abs(ms) / 60_000} min ${ms > 0 ? "fast" : "slow"}`,
  ms,
}));

describe("on a device with a wrong clock", () => {
  const shared = shareUploadPage();
  const { boat, add, onPage } = shared;

  test.each(CLOCKS)("$clock, an upload for an hour lives for an hour", async ({ ms }) => {
    await onPage(async (page) => {
      await shiftClock(page, ms);
      await page.reload();
      await page.getByLabel("Delete after").selectOption({ label: "1 hour" });
      await choose(page, boat());
      const entry = entryOf(page, "boat.jpg");
      const link = await linkOf(entry);
      const leftMs = async () =>
        Date.parse(String((await recordAt(shared.site, link)).expiresAt)) - Date.now();
      expect((await leftMs()) / HOUR_MS).toBeCloseTo(1, 1);
      await entry.getByText(/(59|60) minutes left/).waitFor();
    });
  });

  test.each(CLOCKS)("$clock, the edit page shows the expiry that it will set", async ({ ms }) => {
    const image = await add("boat.jpg");
    await onPage(async (page) => {
      await shiftClock(page, ms);
      const begunMs = Date.now();
      await page.goto(String(image.editUrl));
      await page.getByLabel("Time from now").selectOption({ label: "7 days" });
      const shown = await page.getByText(/^New expiry/).textContent();
      const wanted = new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short", year: "numeric" });
      const days = [begunMs, Date.now()].map((at) => wanted.format(at + 7 * DAY_MS));
      expect(shown).toMatch(new RegExp(days.join("|")));
      await page.getByRole("button", { name: "Save changes" }).click();
      await page.getByText(/left/).first().waitFor();
      const { expiresAt } = await recordAt(shared.site, `${image.url}/view`);
      expect((Date.parse(String(expiresAt)) - Date.now()) / DAY_MS).toBeCloseTo(7, 1);
    });
  });
});
