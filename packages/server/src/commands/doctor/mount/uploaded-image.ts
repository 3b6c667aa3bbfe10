import { type Answer, headerOf, objectOf } from "./answer.ts";

/** An image created by a check. */
export interface UploadedImage {
  id: string;
  pin: string;
  /** From the body; empty if absent. */
  url: string;
  editUrl: string;
  links: readonly string[];
  /** From the headers; `undefined` if a proxy removed them. */
  location: string | undefined;
  urlHeader: string | undefined;
  agentName: string | null;
  size: number | null;
  /** Unix milliseconds. */
  createdAt: number;
  /** Whether the reply was 202. */
  isProcessing: boolean;
}

/** Reads the reply to a create; `null` if no image was created. */
export function uploadedImage(answer: Answer): UploadedImage | null {
  if (answer.status !== 201 && answer.status !== 202) return null;
  const record = objectOf(answer);
  const id = textOf(record.id) || (headerOf(answer, "x-service-image-id") ?? "");
  const pin = textOf(record.pin) || (headerOf(answer, "x-service-image-pin") ?? "");
  if (!/^[\w-]{22}$/.test(id) || pin === "") return null;
  return {
    ...{ id, pin, url: textOf(record.url), editUrl: textOf(record.editUrl) },
    links: Object.values(entriesOf(record.links)).map(textOf),
    location: headerOf(answer, "location"),
    urlHeader: headerOf(answer, "x-service-image-url"),
    agentName: textOf(entriesOf(record.agent).name) || null,
    size: typeof record.size === "number" ? record.size : null,
    createdAt: Date.parse(textOf(record.createdAt)),
    isProcessing: answer.status === 202,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function entriesOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
