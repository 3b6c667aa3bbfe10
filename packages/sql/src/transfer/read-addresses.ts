import type { ImportOptions } from "./import-contacts.ts";
import { readLines } from "./read-lines.ts";

const ignore = () => undefined;
const REPORTS = { onBad: ignore, onUnused: ignore };

/** The texts in the columns of addresses of a file, as `importContacts` reads it. Lines without one are skipped. */
export async function* readAddresses(
  input: AsyncIterable<Uint8Array>,
  { encoding, mapping = {} }: Pick<ImportOptions, "encoding" | "mapping">,
): AsyncGenerator<string> {
  for await (const lines of readLines(input, { format: undefined, encoding, mapping }, REPORTS)) {
    for (const { fields } of lines) if (fields.address !== undefined) yield fields.address;
  }
}
