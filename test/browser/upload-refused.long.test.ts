import { createHash } from "node:crypto";
import type { Response } from "playwright-core";
import { expect, test } from "vitest";
import { type Site, type SiteOptions, withSite } from "../support/service.ts";
import {
  choose,
  entryOf,
  eventually,
  linkOf,
  onUploadPage,
  recordAt,
  shareUploadPage,
  textFile,
} from "./upload-page.ts";

const REFUSED = /Failed to load resource/;

const shared = shareUploadPage();
const { boat, big, onPage } = shared;

test("a file that is too large, empty or of another kind gets a reason and no request", async () => {
  await withSite({ maxUploadBytes: 10_000 }, async (site) => {
    await onUploadPage(site, async (page) => {
      const sent: string[] = [];
      page.on("request", (request) => {
        if (request.method() === "POST") sent.push(request.url());
      });
      await choose(page, big(20_000), textFile(), { ...boat("nothing.png"), buffer: Buffer.alloc(0) });
      await entryOf(page, "big.jpg").getByText("too large (19.5 kB). The limit is 9.77 kB.").waitFor();
      await entryOf(page, "notes.txt").getByText("Use PNG, JPEG, GIF, SVG, PSD, or PDF.").waitFor();
      await entryOf(page, "nothing.png").getByText("This file is empty.").waitFor();
      expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
      await eventually(() => page.getByRole("log").textContent()).toContain("3 not uploaded.");
      await page.getByRole("button", { name: "Dismiss notes.txt" }).click();
      await eventually(() => page.locator(".entry").count()).toBe(2);
      await choose(page, textFile());
      await eventually(() => page.getByRole("log").textContent()).toContain(
        "notes.txt: This file type isn’t supported.",
      );
      expect(sent).toEqual([]);
    });
  });
});

test("the page shows the reason of a refusal, and Try again succeeds once access is allowed", async () => {
  let isOpen = false;
  await withSite({ authorize: (_call, action) => action !== "create" || isOpen }, async (site) => {
    await onUploadPage(
      site,
      async (page) => {
        await choose(page, boat());
        const entry = entryOf(page, "boat.jpg");
        await entry.getByText("You can’t upload this here.").waitFor();
        isOpen = true;
        await entry.getByRole("button", { name: "Try again" }).click();
        await recordAt(site, await linkOf(entry));

        const fake = {
          name: "fake.png",
          mimeType: "image/png",
          buffer: Buffer.from("<p>not a picture</p>"),
        };
        await choose(page, fake);
        const refused = entryOf(page, "fake.png");
        await refused.getByText("This file can’t be read as an image.").waitFor();
        expect(await refused.textContent()).toContain("is not a PNG, JPEG, GIF, SVG, PSD or PDF file");
      },
      { mayComplain: REFUSED },
    );
  });
});

test.each([429, 503])("the upload continues by itself after the pause of a %i", async (status) => {
  let refusals = 2;
  await onPage(
    async (page) => {
      await page.route("**/api/images.json", async (route) => {
        if (refusals-- <= 0) return route.continue();
        return route.fulfill({ status, headers: { "Retry-After": "1" }, body: "busy" });
      });
      await choose(page, boat());
      await entryOf(page, "boat.jpg").getByText("The server asked to wait.").waitFor();
      await recordAt(shared.site, await linkOf(entryOf(page, "boat.jpg")));
      expect(refusals).toBeLessThan(0);
    },
    { mayComplain: REFUSED },
  );
});

/** The shared.site of a test below, whose inspection uses it. */
let asked: Site | undefined;

const deny = async () => {
  const sha256 = createHash("sha256").update(shared.photo).digest("hex");
  await asked?.images.deny({ sha256, reason: "This file is denied." });
  return "accept" as const;
};

const withhold = (site: Site, id: string) => site.images.withhold(id, { reason: "A court decided so." });

test.each<[string, string, SiteOptions, ((site: Site, id: string) => Promise<unknown>)?]>([
  ["is damaged", "The server says:", {}],
  ["the host refuses", "Nudity.", { inspect: () => ({ refuse: "Nudity." }) }],
  ["the host denies", "This file is denied.", { inspect: deny }],
  ["is deleted", "was deleted", { processUploads: false }, (site, id) => site.images.remove(id)],
  ["is withheld", "A court decided so.", { processUploads: false }, withhold],
])(
  "a file that %s after its 202 shows the reason, and cannot be sent again",
  async (what, reason, options, act) => {
    await withSite({ asyncAfterMs: 0, ...options }, async (site) => {
      asked = site;
      const buffer = what === "is damaged" ? shared.photo.subarray(0, 200) : shared.photo;
      await onUploadPage(
        site,
        async (page) => {
          const answers: Response[] = [];
          page.on("response", (response) => {
            if (response.request().method() === "POST") answers.push(response);
          });
          await choose(page, { ...boat("first.jpg"), buffer }, textFile());
          await eventually(() => answers.map((answer) => answer.status())).toEqual([202]);
          const { id } = Object(await answers[0]?.json());
          await act?.(site, id);
          const entry = entryOf(page, "first.jpg");
          await entry.getByText(reason).waitFor();
          expect(await entry.getByRole("button", { name: "Copy link" }).count()).toBe(0);
          expect(await page.getByRole("button", { name: /Try again|Retry/ }).count()).toBe(0);
          await page.reload();
          await page.getByText("Drop images here").waitFor();
          expect(await page.locator(".entry:not(:has(.unavailable))").count()).toBe(0);
        },
        { mayComplain: REFUSED },
      );
    });
  },
);
