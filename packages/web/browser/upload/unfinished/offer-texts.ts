import type { KeptUpload } from "../../saved/kept-uploads.ts";

type Offer = Pick<KeptUpload, "meta" | "file" | "chosen">;

/** What is offered: the heading, and the announcement. */
export function offersText(offers: readonly Offer[]): string {
  const [first] = offers;
  const shared = offers.filter(({ meta }) => meta === null).length;
  if (first === undefined) return "";
  if (shared === 0) {
    return offers.length === 1
      ? `${nameOf(first)} was not finished`
      : `${offers.length} uploads were not finished`;
  }
  if (shared < offers.length) return `${offers.length} files are not uploaded`;
  return shared === 1 ? `Upload ${nameOf(first)}?` : `Upload ${shared} shared files?`;
}

/** The state of one offer. @param size of the chosen file, as text */
export function offerText({ meta, file }: Offer, size: string): string {
  if (file !== null) return meta === null ? `${size} · shared with this page` : `${size} · not finished`;
  return `${size} · ${meta === null ? "shared with this page" : "not finished"}. The file was not kept.`;
}

/** A longer name would hide the rest of the text. */
const MAX_SHOWN_NAME = 60;

function nameOf({ meta, chosen }: Offer): string {
  const name = meta?.name ?? chosen.name;
  return name.length > MAX_SHOWN_NAME ? `${name.slice(0, MAX_SHOWN_NAME)}…` : name;
}
