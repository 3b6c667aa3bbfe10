const ROWS: readonly [keys: string, offset: number][] = [
  ["1234567890-", 0],
  ["qwertyuiop", 0.5],
  ["asdfghjkl", 0.75],
  ["zxcvbnm", 1.25],
];
/** Pairs of characters that look alike, in addition to neighbours on the keyboard. */
const LOOK_ALIKE = new Set(["0o", "1l", "1i", "il", "mn", "uv", "vw"]);

const positions = new Map(
  ROWS.flatMap(([keys, offset], row) =>
    [...keys].map((key, index) => [key, { row, column: index + offset }]),
  ),
);

/** Mistyped top-level domains, none of which exists. */
const WRONG_TOP_LEVELS: ReadonlyMap<string, string> = new Map(
  [
    ["com", "con cmo ocm vom xom cpm cim clm coom comm ccom commm comn"],
    ["net", "nett nte ent ner ney"],
    ["org", "orgg ogr rog prg irg"],
  ].flatMap(([right = "", wrong = ""]) => wrong.split(" ").map((each) => [each, right] as const)),
);

/** Shorter names have too many similar real domains. */
const MIN_NAME_LENGTH = 5;

/**
 * Returns a function that corrects a typo: two letters swapped, one missing, one too many, or one replaced by a
 * neighbour on the keyboard or a similar letter. It returns the first match in `targets`; else the domain with the top-level
 * domain that was meant; else `null`.
 */
export function createDomainSuggestions(targets: readonly string[]): (domain: string) => string | null {
  const byLength = new Map<number, string[]>();
  for (const target of targets) {
    if (target.indexOf(".") < MIN_NAME_LENGTH) continue;
    for (const length of [target.length - 1, target.length, target.length + 1]) {
      byLength.set(length, [...(byLength.get(length) ?? []), target]);
    }
  }
  return (domain) =>
    byLength.get(domain.length)?.find((target) => isSlip(domain, target)) ?? withRightTopLevel(domain);
}

function withRightTopLevel(domain: string): string | null {
  const end = domain.lastIndexOf(".") + 1;
  const right = WRONG_TOP_LEVELS.get(domain.slice(end));
  return right === undefined || end === 0 ? null : domain.slice(0, end) + right;
}

function isSlip(typed: string, meant: string): boolean {
  let from = 0;
  while (from < meant.length && typed[from] === meant[from]) from++;
  let typedEnd = typed.length;
  let meantEnd = meant.length;
  while (typedEnd > from && meantEnd > from && typed[typedEnd - 1] === meant[meantEnd - 1]) {
    typedEnd--;
    meantEnd--;
  }
  const wrong = typed.slice(from, typedEnd);
  const right = meant.slice(from, meantEnd);
  if (wrong.length + right.length === 1) return true;
  if (wrong.length === 1 && right.length === 1) return isEasilyTaken(wrong, right);
  return wrong.length === 2 && wrong === `${right[1]}${right[0]}`;
}

function isEasilyTaken(typed: string, meant: string): boolean {
  if (LOOK_ALIKE.has([typed, meant].sort().join(""))) return true;
  const one = positions.get(typed);
  const other = positions.get(meant);
  if (one === undefined || other === undefined) return false;
  return Math.abs(one.row - other.row) <= 1 && Math.abs(one.column - other.column) <= 1;
}
