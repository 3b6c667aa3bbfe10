import type { DenyOptions } from "@outrigger/core";
import { forEachAtOnce } from "@outrigger/core/storage";
import { linesOf } from "../../../cli/lines-of.ts";
import { jsonText, printFailure, printOut } from "../../../cli/print.ts";
import { usageError } from "../../../config/config-error.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withAdmin } from "../with-admin.ts";

const SHA256 = /^[0-9a-f]{64}$/i;
/** Entries written at a time. */
const AT_ONCE = 32;

interface DenyFlags extends DataFlags {
  reason?: string;
  legal?: boolean;
  /** A file with further hashes; `-`: the standard input. */
  from?: string;
}

/** `outrigger images deny`: refuses uploads of these bytes from now on. A line that names none is reported and left out. */
export async function deny(hashes: string[], flags: DenyFlags): Promise<void> {
  const { from, reason, legal = false } = flags;
  const read = (text: string) => readEntry(text, { reason, isLegal: legal });
  if (from === undefined && hashes.length === 0) throw usageError("deny: needs a SHA-256, or --from");
  if (hashes.some((hash) => read(hash) === null)) {
    throw usageError("deny: each must be a SHA-256 of 64 hex digits, and needs --reason");
  }
  await withAdmin(flags, async (admin) => {
    let denied = 0;
    async function* given() {
      for (const line of hashes) yield { line, number: 0 };
      if (from !== undefined) yield* linesOf(from, "--from");
    }
    await forEachAtOnce(given(), AT_ONCE, async ({ line, number }) => {
      const entry = read(line.trim());
      if (entry === null) {
        return printFailure(`${from}: line ${number} is no SHA-256 with a reason, and is left out`);
      }
      await admin.deny(entry);
      denied++;
    });
    process.stdout.write(`${denied} denied\n`);
  });
}

/** `outrigger images allow`: undoes deny. */
export async function allow(hashes: string[], flags: DataFlags): Promise<void> {
  if (!hashes.every((hash) => SHA256.test(hash)))
    throw usageError("allow: each must be a SHA-256 of 64 hex digits");
  await withAdmin(flags, async (admin) => {
    for (const sha256 of hashes) {
      await admin.allow({ sha256 });
      process.stdout.write(`${sha256} allowed\n`);
    }
  });
}

/** `outrigger images denials`: prints a JSON object per line, as `deny --from` reads them. */
export async function denials(flags: DataFlags): Promise<void> {
  await withAdmin(flags, async (admin) => {
    for await (const denial of admin.denials()) printOut(jsonText(denial));
  });
}

/** A SHA-256, or a JSON object with one. `null`: neither, or without a reason. */
function readEntry(
  text: string,
  preset: { reason: string | undefined; isLegal: boolean },
): DenyOptions | null {
  const {
    sha256,
    reason = preset.reason,
    isLegal = preset.isLegal,
  } = SHA256.test(text) ? { sha256: text } : (jsonOf(text) as Partial<Record<keyof DenyOptions, unknown>>); // Each value is checked.
  if (typeof sha256 !== "string" || !SHA256.test(sha256)) return null;
  if (typeof reason !== "string" || reason.trim() === "" || reason.length > 1000) return null;
  return { sha256, reason, isLegal: isLegal === true };
}

function jsonOf(text: string): object {
  try {
    return Object(JSON.parse(text));
  } catch {
    // The caller names the line.
    return {};
  }
}
