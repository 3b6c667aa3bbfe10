const UNITS = ["kB", "MB", "GB", "TB"];

/** Bytes in decimal units for people: `412 B`, `1.3 MB`. */
export function sizeText(bytes: number): string {
  let amount = bytes;
  let unit = "B";
  for (const larger of UNITS) {
    // 999.95 would be shown as 1000.0 of the smaller unit.
    if (amount < 999.95) break;
    amount /= 1000;
    unit = larger;
  }
  return unit === "B" ? `${bytes} B` : `${amount.toFixed(1)} ${unit}`;
}
