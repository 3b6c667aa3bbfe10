export interface JpegOptions {
  /** @default 3 */
  components?: 1 | 3 | 4;
  /** Samples of each component across and down in a unit. @default 1×1 each */
  sampling?: readonly (readonly [across: number, down: number])[];
  /** Units between restart markers. @default none */
  restart?: number;
  /** One scan per component instead of one of all. */
  separateScans?: boolean;
  /** Quantisation tables of 16 bits. */
  wideTables?: boolean;
  /** One marker for both Huffman tables. */
  joinedTables?: boolean;
  /** The colour transform of an Adobe marker. @default no such marker */
  adobe?: 0 | 1 | 2;
  /** Numbers of the components. @default from 1 */
  ids?: readonly number[];
  /** Segments after the start. */
  segments?: readonly Buffer[];
}

const [WIDTH, HEIGHT] = [24, 16];

/** The sizes 0 to 11 with 4 bits each, and the end of a block with 1 bit. */
const HUFFMAN = [
  [0x00, 0, 0, 0, 12, ...Array<number>(12).fill(0), ...Array.from({ length: 12 }, (_, size) => size)],
  [0x10, 1, ...Array<number>(15).fill(0), 0],
];

export function segment(marker: number, data: Buffer | readonly number[]): Buffer {
  const body = Buffer.from(data);
  return Buffer.concat([Buffer.of(0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255), body]);
}

/** A sequential JPEG of 24 × 16 equal pixels, written by the specification alone. */
export function writeJpeg(options: JpegOptions = {}): Buffer {
  const { components: count = 3, segments = [], adobe, wideTables, restart } = options;
  const { sampling = Array.from({ length: count }, () => [1, 1] as const), ids = [1, 2, 3, 4] } = options;
  const all = ids.slice(0, count).map((id, index) => ({ id, samples: sampling[index] ?? ([1, 1] as const) }));
  const frame = all.flatMap(({ id, samples: [across, down] }) => [id, (across << 4) | down, 0]);
  const scans = options.separateScans ? all.map((component) => [component]) : [all];
  return Buffer.concat([
    Buffer.of(0xff, 0xd8),
    ...(adobe === undefined ? [] : [segment(0xee, Buffer.from(`Adobe\0d\0\0\0\0${"\0\x01\x02"[adobe]}`))]),
    ...segments,
    segment(0xdb, [
      wideTables ? 0x10 : 0,
      ...Array<number[]>(64)
        .fill(wideTables ? [0, 1] : [1])
        .flat(),
    ]),
    segment(wideTables ? 0xc1 : 0xc0, [8, 0, HEIGHT, 0, WIDTH, count, ...frame]),
    ...(options.joinedTables ? [HUFFMAN.flat()] : HUFFMAN).map((table) => segment(0xc4, table)),
    ...(restart ? [segment(0xdd, [restart >> 8, restart & 255])] : []),
    ...scans.flatMap((components) => [
      segment(0xda, [components.length, ...components.flatMap(({ id }) => [id, 0]), 0, 63, 0]),
      scanData(components, sampling, restart),
    ]),
    Buffer.of(0xff, 0xd9),
  ]);
}

type Samples = readonly [across: number, down: number];

function scanData(scan: readonly { samples: Samples }[], sampling: readonly Samples[], restart = 0): Buffer {
  // A scan of one component has single blocks, as many as its own samples need.
  const [only, ...others] = scan;
  const [across, down] = others.length === 0 && only !== undefined ? only.samples : [1, 1];
  const columns = Math.ceil((WIDTH * across) / (8 * Math.max(...sampling.map(([each]) => each))));
  const rows = Math.ceil((HEIGHT * down) / (8 * Math.max(...sampling.map(([, each]) => each))));
  const blocks = others.length === 0 ? 1 : scan.reduce((sum, { samples: [x, y] }) => sum + x * y, 0);
  const parts: Buffer[] = [];
  const step = restart || columns * rows;
  for (let unit = 0; unit < columns * rows; unit += step) {
    if (unit > 0) parts.push(Buffer.of(0xff, 0xd0 + ((unit / step - 1) % 8)));
    parts.push(equalBlocks(blocks * Math.min(step, columns * rows - unit)));
  }
  return Buffer.concat(parts);
}

/** Blocks that differ from none before them: each a size of 0 and its end, which are 5 zero bits. */
function equalBlocks(count: number): Buffer {
  const bytes = Buffer.alloc(Math.ceil((5 * count) / 8));
  const used = (5 * count) % 8;
  if (used > 0) bytes[bytes.length - 1] = 0xff >> used;
  return bytes;
}
