import type { Page } from "playwright-core";
import type { SavedImage } from "../../packages/web/browser/saved/saved-image.ts";
import type { Created, Site } from "../support/service.ts";

/** The list that the upload page saves in this browser. */
export function readList(page: Page, site: Site): Promise<SavedImage[]> {
  return page.evaluate(
    (key) => JSON.parse(localStorage.getItem(key) ?? "[]") as SavedImage[],
    `outrigger uploads ${site.base}`,
  );
}

/** Replaces the list, as another window would, and opens the page again. */
export async function openWithList(page: Page, site: Site, images: readonly SavedImage[]): Promise<void> {
  await page.evaluate(([key = "", text = ""]) => localStorage.setItem(key, text), [
    `outrigger uploads ${site.base}`,
    JSON.stringify(images),
  ] as const);
  await page.reload();
  await page.getByText("Drop images here").waitFor();
}

/** The entry of an image that the service answered. */
export function savedFrom(created: Created): SavedImage {
  const { id, pin, url, name, type, expiresAt } = created;
  return { id, pin, url, name: String(name), type: String(type), expiresAt: String(expiresAt) };
}

/** PATCH as another client sends it. */
export async function patch(site: Site, { id, pin }: Created, change: object): Promise<void> {
  const response = await fetch(`${site.base}/api/images/${id}.json`, {
    method: "PATCH",
    headers: { "Content-Type": "application/json", "X-Service-Image-Pin": pin },
    body: JSON.stringify(change),
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
}

export async function statusOf(site: Site, { id }: { id: string }): Promise<number> {
  return (await fetch(`${site.base}/api/images/${id}.json`)).status;
}

/** DELETE as another client sends it. */
export async function deleteElsewhere(site: Site, { id, pin }: Created): Promise<void> {
  await fetch(`${site.base}/api/images/${id}.json?pin=${pin}`, { method: "DELETE" });
}

/** Answers the next dialogs of the page in this order. @returns their texts so far */
export function answerDialogs(page: Page, answers: boolean[]): string[] {
  const asked: string[] = [];
  page.on("dialog", async (dialog) => {
    asked.push(dialog.message());
    if (answers.shift() === true) await dialog.accept();
    else await dialog.dismiss();
  });
  return asked;
}
