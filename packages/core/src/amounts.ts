// Units by name, largest first.
const BYTES = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, bytes: 1 };
const TIMES = { days: 86_400_000, hours: 3_600_000, minutes: 60_000, seconds: 1000 };

/** Bytes in the largest fitting unit: `25 MiB`, `1000 bytes`. @param round Applied to the second decimal. */
export function bytesText(bytes: number, round: (value: number) => number = Math.floor): string {
  return amountText(bytes, BYTES, round);
}

/** Milliseconds in the largest fitting unit, rounded down to two decimals: `365 days`, `1.5 hours`. */
export function durationText(ms: number): string {
  return amountText(ms, TIMES, Math.floor);
}

function amountText(amount: number, units: Record<string, number>, round: (value: number) => number): string {
  const entries = Object.entries(units);
  const [plural, size] = entries.find((unit) => amount >= unit[1]) ?? entries.at(-1) ?? ["", 1];
  const count = round((amount * 100) / size) / 100;
  return `${count} ${count === 1 ? plural.replace(/s$/, "") : plural}`;
}

const SIZES = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 };
const PERIODS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** The milliseconds of a duration such as `30s`, `10m`, `12h`, `7d` or `2w`. `null` for any other text. */
export function parseDuration(text: string): number | null {
  return parseAmount(text, /^(\d{1,9})([smhdw])$/, PERIODS);
}

/** The bytes of a size such as `500 kB`, `25MB` or `1.5GiB`, rounded down. `null` for any other text. */
export function parseSize(text: string): number | null {
  return parseAmount(text.toLowerCase(), /^(\d{1,9}(?:\.\d{1,3})?) ?([kmg]i?b|b)$/, SIZES);
}

function parseAmount(text: string, form: RegExp, units: Record<string, number>): number | null {
  const [, count, unit = ""] = form.exec(text) ?? [];
  return count === undefined ? null : Math.floor(Number(count) * (units[unit] ?? 0));
}
