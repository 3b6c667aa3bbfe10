/** The source of a pattern for decimal numbers from 1 to `max`, with or without leading zeros. */
export function numbersUpTo(max: number): string {
  const digits = String(max);
  const choices = digits.length === 1 ? [] : [`[1-9]\\d{0,${digits.length - 2}}`];
  for (let index = 0; index < digits.length; index++) {
    const lowest = index === 0 ? 1 : 0;
    const highest = Number(digits[index]) - 1;
    if (highest < lowest) continue;
    const rest = digits.length - index - 1;
    const here = highest === lowest ? String(lowest) : `[${lowest}-${highest}]`;
    choices.push(`${digits.slice(0, index)}${here}${rest === 0 ? "" : `\\d{${rest}}`}`);
  }
  return `0*(?:${[...choices, digits].join("|")})`;
}
