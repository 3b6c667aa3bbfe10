import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { choose, copied, entryOf, eventually, linkOf, recordAt, shareUploadPage } from "./upload-page.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const shared = shareUploadPage({ maxLifetimeMs: 40 * DAY_MS });
const { boat, add, onPage } = shared;
const dateField = (page: Page) => page.getByLabel("Delete on");

test("a date that is past, empty or too late stays in the field with the reason, and files wait for a right one", async () => {
  await onPage(async (page) => {
    await page.getByLabel("Delete after").selectOption({ label: "On a date…" });
    for (const [wrong, reason] of [
      ["2001-01-01T00:00", /^Choose a time in the future\./],
      ["", /^Enter a date and a time\./],
      ["2090-01-01T00:00", /^At most 40 days: .* \d{4}/],
    ] as const) {
      await dateField(page).fill(wrong);
      await page.getByRole("alert").getByText(reason).waitFor();
      expect(await dateField(page).inputValue()).toBe(wrong);
    }
    await choose(page, boat("one.jpg"), boat("two.jpg"));
    await page.getByRole("alert").getByText("2 files wait for the date.").waitFor();
    expect(await page.locator(".entry").count()).toBe(0);
    const right = new Date(Date.now() + 10 * DAY_MS).toISOString().slice(0, 16);
    await dateField(page).fill(right);
    const link = await linkOf(entryOf(page, "one.jpg"));
    expect((await recordAt(shared.site, link)).expiresAt).toBe(`${right}:00.000Z`);
    await eventually(() => page.locator(".entry").count()).toBe(2);
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});

test("a half typed date holds a dropped file until a duration is chosen instead", async () => {
  await onPage(async (page) => {
    await page.getByLabel("Delete after").selectOption({ label: "On a date…" });
    await dateField(page).focus();
    await page.keyboard.press("Delete");
    await page.getByRole("alert").getByText("Enter a date and a time.").waitFor();
    const data = await page.evaluateHandle(
      (bytes) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([new Uint8Array(bytes)], "drop.jpg", { type: "image/jpeg" }));
        return transfer;
      },
      [...boat().buffer],
    );
    for (const type of ["dragenter", "dragover", "drop"])
      await page.dispatchEvent(".drop-area", type, { dataTransfer: data });
    await page.getByRole("alert").getByText("1 file waits for the date.").waitFor();
    await page.getByLabel("Delete after").selectOption({ label: "7 days" });
    const link = await linkOf(entryOf(page, "drop.jpg"));
    const { expiresAt } = await recordAt(shared.site, link);
    expect((Date.parse(String(expiresAt)) - Date.now()) / DAY_MS).toBeCloseTo(7, 1);
  });
});

/** Forbids the page's storage, or lets its writes fail as when it is full. */
function breakStorage(page: Page, how: "forbidden" | "full"): Promise<unknown> {
  return page.addInitScript((way) => {
    const fail = (): never => {
      throw new DOMException("no", way === "full" ? "QuotaExceededError" : "SecurityError");
    };
    if (way === "full") Storage.prototype.setItem = fail;
    else Object.defineProperty(window, "localStorage", { get: fail });
  }, how);
}

test.each(["forbidden", "full"] as const)(
  "with storage that is %s, the page offers the edit link, and leaving is questioned until it is copied",
  async (how) => {
    await onPage(async (page) => {
      await breakStorage(page, how);
      await page.reload();
      await choose(page, boat());
      const notice = page.locator(".risk");
      await notice.getByText("This browser can’t keep your edit link. Copy it now.").waitFor();
      const asked = page.waitForEvent("dialog");
      void page.reload().catch(() => undefined);
      const dialog = await asked;
      expect(dialog.type()).toBe("beforeunload");
      await dialog.dismiss();
      const link = await copied(page, notice.getByRole("button", { name: "Copy edit link" }));
      expect(link).toMatch(/\/edit\?pin=[0-9A-Z]{16}$/);
      await page.reload();
      await page.getByText("Drop images here").waitFor();
      expect((await page.request.get(link)).status()).toBe(200);
    });
  },
);

test("of several images, a copy of all edit links ends the warning", async () => {
  await onPage(async (page) => {
    await breakStorage(page, "full");
    await page.reload();
    await choose(page, boat("one.jpg"), boat("two.jpg"));
    const warning = page.getByText("This browser can’t keep your edit links. Copy them now.");
    await warning.waitFor();
    const links = await copied(page, page.getByRole("button", { name: "Copy edit links" }));
    expect(links.split("\n")).toEqual(Array(2).fill(expect.stringMatching(/\/edit\?pin=[0-9A-Z]{16}$/)));
    await warning.waitFor({ state: "detached" });
    await page.reload();
    await page.getByText("Drop images here").waitFor();
  });
});

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

test.each(CLOCKS)("$clock, an upload for an hour lives for an hour", async ({ ms }) => {
  await onPage(async (page) => {
    await shiftClock(page, ms);
    await page.reload();
    await page.getByLabel("Delete after").selectOption({ label: "1 hour" });
    await choose(page, boat());
    const entry = entryOf(page, "boat.jpg");
    const link = await linkOf(entry);
    const leftMs = async () => Date.parse(String((await recordAt(shared.site, link)).expiresAt)) - Date.now();
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
