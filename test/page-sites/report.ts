import type { Mistake, Score } from "./score.ts";

const percent = (value: number) => value.toFixed(4);

/** A score as lines of text. */
export function scoreLines(score: Score, examples: number): string[] {
  const shares = ["precision", "readable", "names", "positions", "phones"] as const;
  const lines = shares.map(
    (key) => `${key.padEnd(10)} ${percent(score[key].value)}  ${score[key].right} of ${score[key].all}`,
  );
  lines.push(`wrong names ${score.wrongNames}`);
  for (const [title, map] of [
    ["writing", score.byWriting],
    ["layout", score.byLayout],
    ["language", score.byLanguage],
  ] as const) {
    const low = [...map]
      .filter(([, share]) => share.value < 1)
      .sort((one, other) => one[1].value - other[1].value);
    lines.push(`recall by ${title}, below 1: ${low.length === 0 ? "none" : ""}`);
    for (const [key, { value, right, all }] of low) lines.push(`  ${percent(value)} ${right}/${all} ${key}`);
  }
  return [...lines, ...mistakeLines(score.mistakes, examples)];
}

function mistakeLines(mistakes: readonly Mistake[], examples: number): string[] {
  const groups = new Map<string, Mistake[]>();
  for (const mistake of mistakes) {
    const key = `${mistake.what}: ${
      mistake.what === "false"
        ? mistake.group
        : mistake.group
            .split(" | ")
            .slice(mistake.what === "missed" ? 0 : 1, mistake.what === "missed" ? 1 : 2)
            .join("")
    }`;
    groups.set(key, [...(groups.get(key) ?? []), mistake]);
  }
  return [...groups]
    .sort((one, other) => other[1].length - one[1].length)
    .flatMap(([key, group]) => [
      `${group.length} × ${key}`,
      ...group
        .slice(0, examples)
        .map(({ page, wanted, got, group: kinds }) => `    ${page} wanted ${wanted} got ${got} (${kinds})`),
    ]);
}
