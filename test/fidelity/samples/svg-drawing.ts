/** SVGs by name. */
export type Drawings = Record<string, string>;

const NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';

export function draw(content: string, attributes = 'width="60" height="40"'): string {
  return `<svg ${NAMES} ${attributes}>${content}</svg>`;
}

export function each(prefix: string, values: readonly string[], make: (value: string) => string): Drawings {
  return Object.fromEntries(values.map((value) => [`${prefix} ${value}`, draw(make(value))]));
}
