/** A directory of {@link tiffOf}: a grey picture of one level. */
export interface TiffPage {
  width: number;
  height: number;
  level: number;
  /** Further fields, or others in place of its own: type and values by tag. */
  fields?: Readonly<Record<number, readonly [type: number, ...values: number[]]>>;
  /** Directories that it refers to by the field 330. */
  below?: readonly TiffPage[];
}

/** How {@link tiffOf} writes. */
export interface TiffForm {
  /** @default "II" */
  order?: "II" | "MM";
  /** Whether it is a BigTIFF. @default false */
  big?: boolean;
}

const SIZES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 13: 4, 16: 8, 18: 8 };

/** An uncompressed TIFF with 8 bits per pixel. */
export function tiffOf(pages: readonly TiffPage[], { order = "II", big = false }: TiffForm = {}): Buffer {
  const word = big ? 8 : 4;
  const number = (value: number, bytes: number) => {
    const little = Buffer.alloc(bytes);
    little.writeUIntLE(value, 0, Math.min(bytes, 6));
    return order === "II" ? little : little.reverse();
  };
  const chunks: Buffer[] = [
    Buffer.from(order),
    number(big ? 43 : 42, 2),
    ...(big ? [number(8, 2), number(0, 2)] : []),
  ];
  let end = big ? 16 : 8;
  const append = (bytes: Buffer): number => {
    const padded = Buffer.concat([bytes, Buffer.alloc(bytes.length % 2)]);
    chunks.push(padded);
    end += padded.length;
    return end - padded.length;
  };
  /** Writes a directory behind its pixels and those below it. @returns where it begins. */
  const write = (page: TiffPage, next: number): number => {
    const below = page.below?.map((each) => write(each, 0)) ?? [];
    const strip = append(Buffer.alloc(page.width * page.height, page.level));
    const fields = new Map<number, readonly [number, ...number[]]>([
      [256, [4, page.width]],
      [257, [4, page.height]],
      [258, [3, 8]],
      [259, [3, 1]],
      [262, [3, 1]],
      [273, [4, strip]],
      [277, [3, 1]],
      [278, [4, page.height]],
      [279, [4, page.width * page.height]],
      ...(below.length === 0 ? [] : [[330, [big ? 18 : 13, ...below]] as const]),
      ...Object.entries(page.fields ?? {}).map(([tag, field]) => [Number(tag), field] as const),
    ]);
    const entries = [...fields].sort(([tag], [other]) => tag - other);
    const written = entries.map(([tag, [type, ...values]]) => {
      const bytes = Buffer.concat(values.map((value) => number(value, SIZES[type] ?? 1)));
      const value = bytes.length <= word ? bytes : number(append(bytes), word);
      const padding = Buffer.alloc(word - value.length);
      return Buffer.concat([number(tag, 2), number(type, 2), number(values.length, word), value, padding]);
    });
    return append(Buffer.concat([number(written.length, big ? 8 : 2), ...written, number(next, word)]));
  };
  // The last page first, since each names the next.
  const first = [...pages].reverse().reduce((next, page) => write(page, next), 0);
  chunks.splice(big ? 4 : 2, 0, number(first, word));
  return Buffer.concat(chunks);
}
