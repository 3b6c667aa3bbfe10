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
