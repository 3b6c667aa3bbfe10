/** Lines of `Label  value`, the values below each other; those without a value are left out. */
export function labelledLines(values: Readonly<Record<string, string | null>>): string {
  const shown = Object.entries(values).filter(([, value]) => value !== null);
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${label.padEnd(width)}  ${value}\n`).join("");
}
