import { readFile, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import type { VerifyState } from "@outrigger/ops";
import { z } from "zod";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { StartError } from "../../../config/config-error.ts";
import { writeWhole } from "../write-file.ts";

const COUNT = z.int().min(0);

const STATE: z.ZodType<VerifyState> = z.object({
  phase: z.enum(["records", "originals", "renditions"]),
  cursor: z.string().nullable(),
  keys: COUNT,
  totalKeys: COUNT,
  report: z.object({
    ...{ images: COUNT, bytes: COUNT, defects: COUNT, repaired: COUNT, newer: COUNT, undecided: COUNT },
    // Files of earlier releases lack these.
    ...{ unrestorable: COUNT.default(0), orphans: COUNT.default(0) },
  }),
  planned: z
    .array(
      z.object({
        ...{ id: z.string().nullable(), key: z.string(), detail: z.string(), repair: z.null() },
        what: z.enum(["damaged-record", "missing-original", "wrong-size", "wrong-digest", "orphaned-bytes"]),
      }),
    )
    .default([]),
});

/** The subject of a verification. A verification of another subject cannot resume it. */
interface Subject {
  /** The storage, without secrets. */
  storage: string;
  repair: boolean;
}

const FILE = z.object({ storage: z.string(), repair: z.boolean(), state: STATE });

/** The file with the progress of a verification. */
export interface StateFile {
  /** Progress of an earlier run; `null` if there was none or it finished. */
  state: VerifyState | null;
  isKept: boolean;
  save(state: VerifyState): Promise<void>;
  /** Called at the end of the verification. */
  remove(): Promise<void>;
}

/** @param path `undefined` keeps no progress. @throws StartError for a file of another subject or kind. */
export async function openStateFile(path: string | undefined, subject: Subject): Promise<StateFile> {
  if (path === undefined) {
    return { state: null, isKept: false, save: async () => undefined, remove: async () => undefined };
  }
  return {
    state: await readState(path, subject),
    isKept: true,
    save: (state) => writeWhole(path, Readable.from([`${JSON.stringify({ ...subject, state })}\n`])),
    remove: () => rm(path, { force: true }),
  };
}

async function readState(path: string, { storage, repair }: Subject): Promise<VerifyState | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (reasonCode(cause) === "ENOENT") return null;
    throw new StartError(`--state: ${path} cannot be read: ${fileReasonOf(cause)}`, { cause });
  }
  const found = FILE.safeParse(jsonIn(text));
  if (!found.success) {
    throw new StartError(
      `--state: ${path} is not a state file of a verification. Name another file, or delete it`,
    );
  }
  const { data } = found;
  if (data.storage === storage && data.repair === repair) return data.state;
  const what = `${data.storage}${data.repair ? " with --repair" : ""}`;
  throw new StartError(
    `--state: ${path} belongs to a verification of ${what}. Name another file, or delete it`,
  );
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Rejected like any other invalid state.
    return null;
  }
}

function reasonCode(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
