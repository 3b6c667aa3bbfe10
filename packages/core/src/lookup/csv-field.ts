/**
 * Where a spreadsheet may run a formula: at the start of a field, and after what one that separates by semicolons or tabs takes
 * for the end of a field. It then ignores quotation marks within.
 */
const FORMULA = /^(?=[=+\-@\t\r\n])|(?<=[;\t\r\n])(?=[=+\-@])/g;

/** A field of a CSV line (RFC 4180). Formulas get a leading apostrophe, so that no spreadsheet runs them. */
export function csvField(value: string | number | boolean): string {
  const text = typeof value === "string" ? value.replace(FORMULA, "'") : String(value);
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvLine(values: readonly (string | number | boolean)[]): string {
  return `${values.map(csvField).join(",")}\r\n`;
}
