import { isNamedRefusal } from "./exceptions.ts";
import type { Finding } from "./measure.ts";
import { KINDS, type Kind } from "./samples/sample.ts";
import { READERS, WITHIN_PERCENT } from "./shares.ts";

export function percentOf(part: number, whole: number): number {
  return (100 * part) / whole;
}

/** One line per type: files, what became of them, and how many look right. */
export function report(findings: readonly Finding[]): string {
  const lines = (Object.keys(KINDS) as Kind[]).map((kind) => {
    const all = findings.filter((finding) => finding.kind === kind);
    const opened = all.filter(({ isOpened }) => isOpened);
    const refused = opened.filter(({ refusal }) => refusal !== null);
    const named = refused.filter(isNamedRefusal);
    const differences = all
      .flatMap(({ percent }) => (percent === null ? [] : [percent]))
      .sort((one, other) => one - other);
    const within = differences.filter((percent) => percent <= WITHIN_PERCENT).length;
    const median = differences[differences.length >> 1] ?? 0;
    return [
      kind.padEnd(5),
      READERS[kind].padEnd(22),
      ...[all.length, opened.length, named.length, refused.length - named.length].map((count) =>
        String(count).padStart(7),
      ),
      `${percentOf(within, differences.length).toFixed(1)} %`.padStart(9),
      `${median.toFixed(2)} %`.padStart(8),
    ].join(" ");
  });
  const head = `${"type".padEnd(5)} ${"reader".padEnd(22)}   files  opened   named refused   within   median`;
  return [head, ...lines].join("\n");
}
