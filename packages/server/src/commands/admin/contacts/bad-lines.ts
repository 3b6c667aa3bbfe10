import { closeSync, openSync, writeSync } from "node:fs";
import type { BadLine } from "@outrigger/sql";
import { reasonOf } from "../../../cli/error-reason.ts";
import { StartError } from "../../../config/config-error.ts";

/** Lines that were left out. */
export interface BadLines {
  /** The first of them. */
  first: readonly BadLine[];
  /** The file with all of them; `null` where there is none. */
  file: string | null;
  add(line: BadLine): void;
  close(): void;
}

const SHOWN = 20;
const BUFFERED = 1000;

/**
 * Notes lines that were left out, all of them as CSV in a file where one is named.
 * @throws StartError where that cannot be written.
 */
export function noteBadLines(file: string | undefined): BadLines {
  const first: BadLine[] = [];
  const descriptor = file === undefined ? null : opened(file);
  let waiting: string[] = ["line,reason,field\n"];
  let isClosed = false;

  // At once, not by a stream: it is told of faster than a slow disk could take.
  function write(): void {
    if (descriptor !== null) writeSync(descriptor, waiting.join(""));
    waiting = [];
  }

  return {
    first,
    file: file ?? null,
    add(line) {
      if (first.length < SHOWN) first.push(line);
      if (descriptor === null) return;
      waiting.push(`${line.line},${line.reason},${line.field ?? ""}\n`);
      if (waiting.length >= BUFFERED) write();
    },
    close() {
      if (isClosed || descriptor === null) return;
      isClosed = true;
      write();
      closeSync(descriptor);
    },
  };
}

function opened(file: string): number {
  try {
    return openSync(file, "w", 0o600);
  } catch (cause) {
    throw new StartError(`${file} cannot be written: ${reasonOf(cause)}`, { cause });
  }
}
