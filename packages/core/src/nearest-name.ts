/** Groups of option names for the same thing, in this project and in other libraries. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["mountPath", "prefix", "basePath", "path"],
  ["prefix", "namespace", "keyPrefix"],
  ["directory", "dir", "path", "folder", "root"],
  ["url", "uri", "connectionString", "baseUrl", "endpoint"],
  ["creates", "uploads"],
  ["maxUploadBytes", "maxFileSize", "fileSize"],
  ["workers", "concurrency", "processes"],
];

/** The option name that was probably meant: misspelt, or a synonym. `null` if no name is near. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const [best] = known
    .map((each) => ({ each, distance: distanceOf(name.toLowerCase(), each.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  if (best !== undefined && best.distance <= Math.max(1, name.length / 4)) return best.each;
  const others = SYNONYMS.filter((group) => group.includes(name)).flat();
  const synonym = known.find((each) => others.includes(each));
  if (synonym !== undefined) return synonym;
  return best !== undefined && best.distance <= name.length * 0.4 ? best.each : null;
}

/** Damerau–Levenshtein distance: characters inserted, deleted, replaced, or swapped with their neighbour. */
function distanceOf(a: string, b: string): number {
  const rows: number[][] = [];
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0;
  for (let i = 0; i <= a.length; i++) {
    const row: number[] = [];
    rows.push(row);
    for (let j = 0; j <= b.length; j++) {
      if (i === 0 || j === 0) {
        row.push(i + j);
        continue;
      }
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const simple = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + cost);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(isSwap ? Math.min(simple, at(i - 2, j - 2) + 1) : simple);
    }
  }
  return at(a.length, b.length);
}
