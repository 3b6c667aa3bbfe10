import type { ListedImage } from "@outrigger/core";
import { isoText, minuteText, sizeText } from "../../../cli/amounts.ts";
import { printable } from "../../../cli/printable.ts";

/** Fixed widths, so that lines can be printed as images are read. */
const WIDTHS = { id: 22, state: 10, type: 17, size: 8, date: 16 };

export const HEADING = line(["ID", "STATE", "TYPE", "SIZE", "CREATED (UTC)", "EXPIRES (UTC)", "NAME"]);

/** An image as a line of the table; a damaged one shows only ID and state. Names are untrusted text. */
export function tableLine({ id, state, type, size, createdAt, expiresAt, name }: ListedImage): string {
  if (state === "damaged") return line([id, state, "", "", "", "", ""]);
  return line([
    id,
    state,
    type,
    sizeText(size),
    minuteText(createdAt),
    expiresAt === null ? "never" : minuteText(expiresAt),
    printable(name),
  ]);
}

/** An image as a line of JSON, with dates as in the API. */
export function jsonLine({ id, state, createdAt, expiresAt, ...image }: ListedImage): string {
  if (state === "damaged") return `${JSON.stringify({ id, state })}\n`;
  const dates = { createdAt: isoText(createdAt), expiresAt: expiresAt === null ? null : isoText(expiresAt) };
  return `${printable(JSON.stringify({ id, state, ...image, ...dates }))}\n`;
}

function line([id, state, type, size, created, expires, name]: [
  id: string,
  state: string,
  type: string,
  size: string,
  created: string,
  expires: string,
  name: string,
]): string {
  const columns = [
    id.padEnd(WIDTHS.id),
    state.padEnd(WIDTHS.state),
    type.padEnd(WIDTHS.type),
    size.padStart(WIDTHS.size),
    created.padEnd(WIDTHS.date),
    expires.padEnd(WIDTHS.date),
    name,
  ];
  return `${columns.join("  ")}\n`;
}
