import type { CreatedImage, ImageRecord } from "@outrigger/client";
import { sizeText } from "../../../cli/amounts.ts";
import { labelledLines } from "../../../cli/print-out.ts";
import { printable } from "../../../cli/printable.ts";

/** The facts and addresses of an image as text. Names are untrusted. */
export function imageText(image: ImageRecord & Partial<Pick<CreatedImage, "editUrl">>): string {
  const { name, type, size, width, height, status, expiresAt, url, editUrl } = image;
  const pixels = width === null || height === null ? [] : [`${width} × ${height}`];
  const facts = [printable(name), printable(type), ...pixels, sizeText(size)].join("  ");
  const lines = labelledLines({
    Page: printable(`${url}/view`),
    Image: printable(url),
    Edit: editUrl === undefined ? null : printable(editUrl),
    Expires: expiresAt === null ? "never" : `${minuteOf(expiresAt)} UTC`,
    Status: status === "ready" ? null : `${printable(status)}: its addresses answer 202 until it is ready`,
  });
  return `${facts}\n${lines}`;
}

/** `2026-01-02 03:04` from a date of the API. */
function minuteOf(date: string): string {
  return printable(date).slice(0, 16).replace("T", " ");
}
