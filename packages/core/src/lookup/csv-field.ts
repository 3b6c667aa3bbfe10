/** Spreadsheets run a field that begins with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** A field of a CSV line (RFC 4180). Formulas get a leading apostrophe, so that no spreadsheet runs them. */
export function csvField(value: string | number | boolean): string {
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvLine(values: readonly (string | number | boolean)[]): string {
  return `${values.map(csvField).join(",")}\r\n`;
}
