import type { ImportOptions } from "./import-contacts.ts";
import { readLines } from "./read-lines.ts";

/** The texts in the columns of addresses of a file, as `importContacts` reads it. `""`: a line without one, or a bad line. */
export async function* readAddresses(
  input: AsyncIterable<Uint8Array>,
  { encoding, mapping = {} }: Pick<ImportOptions, "encoding" | "mapping">,
): AsyncGenerator<string> {
  let bad = 0;
  const reports = { onBad: () => void bad++, onUnused: () => undefined };
  for await (const lines of readLines(input, { format: undefined, encoding, mapping }, reports)) {
    for (const { fields } of lines) yield fields.address ?? "";
    for (; bad > 0; bad--) yield "";
  }
  for (; bad > 0; bad--) yield "";
}
