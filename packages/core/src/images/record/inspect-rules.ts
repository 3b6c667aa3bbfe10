import type { Readable } from "node:stream";
import type { Call } from "../../contracts/call.ts";
import * as rules from "../../option-rules.ts";
import type { ImageSummary } from "./image-record.ts";

const MAX_REASON_LENGTH = 1000;

/** Whether a text can be the reason of a takedown or refusal. */
export function isReason(given: unknown): given is string {
  return typeof given === "string" && given.trim() !== "" && given.length <= MAX_REASON_LENGTH;
}

export const REASON_RULE = rules.required(
  rules.text(`a text of 1 to ${MAX_REASON_LENGTH} characters`, isReason),
);

/** The cleaned bytes of an upload, as they are about to be stored. They exist until `inspect` settles or its time is over. */
export interface InspectedFile {
  /** A file of this process. Do not change it. */
  path: string;
  bytes(): Promise<Buffer>;
  stream(): Readable;
}

/** An upload that is inspected. */
export interface InspectedImage extends ImageSummary {
  /** SHA-256 of the cleaned bytes, hex. */
  sha256: string;
  /** Pixels, upright; `null`: unknown. */
  width: number | null;
  height: number | null;
  /** Pages of a PDF, frames of an animation, else 1; `null`: unknown. */
  pages: number | null;
}

/** `refuse` is the reason for the uploader, 1 to 1000 characters. */
export type InspectVerdict = "accept" | "hold" | { refuse: string };

/** @param call The upload request. `null`: the image is added in code, or its processing resumes after a restart or elsewhere. */
export type Inspect = (
  file: InspectedFile,
  image: InspectedImage,
  call: Call | null,
) => InspectVerdict | Promise<InspectVerdict>;

export const INSPECT_RULES = {
  /**
   * Judges each upload after it is cleaned and before it is served. `hold`: it answers 202 until an operator calls
   * {@link Images.accept} or {@link Images.refuse}, as does one for which it throws, is too late, or returns anything else. A crash may repeat the call for an image.
   * @default every upload is accepted
   */
  inspect: rules.fn<Inspect>(),
  /** Time limit for `inspect`. Milliseconds, 1 to 600000. @default 10000 */
  inspectTimeoutMs: rules.preset(10_000, rules.time(1, 600_000)),
};
