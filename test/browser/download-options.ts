import type { Page } from "playwright-core";
import { sizeText } from "../../packages/web/src/phrases.ts";
import { bytesOf } from "../support/service.ts";

/** Opens the download options of a viewer. */
export async function openOptions(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByText("Download options").click();
  await page.locator(".options").waitFor();
}

/** Chooses a format or a quality. */
export async function pick(page: Page, label: string): Promise<void> {
  await page.locator(".options").getByText(label, { exact: true }).click();
}

/** The line with the size, after the request. */
export async function settled(page: Page): Promise<string | null> {
  await page.locator(".result:not([aria-busy])").waitFor();
  return page.locator(".result").textContent();
}

/** The last announcement to screen readers. */
export function said(page: Page): Promise<string | null> {
  return page.locator("#said").textContent();
}

/** Addresses of the requests from now on. */
export function requestsOf(page: Page): string[] {
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  return requests;
}

/** The size of a file, in words. */
export async function sizeOf(address: string): Promise<string> {
  return sizeText((await bytesOf(address)).bytes.length);
}
