import { AC_TABLE, codesOf, DC_TABLE, type HuffmanTable, QUANTISATION, ZIGZAG } from "./jpeg-tables.ts";
import { sceneAt } from "./sample.ts";

export interface JpegOptions {
  width?: number;
  height?: number;
  /** What the components are: grey, YCbCr, RGB, inverted CMYK as Adobe writes it, or YCCK. @default "ycc" */
  space?: "grey" | "ycc" | "rgb" | "cmyk" | "ycck";
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
  jfif?: boolean;
  /** Numbers of the components. @default from 1 */
  ids?: readonly number[];
  /** Segments after the start. */
  segments?: readonly Buffer[];
}

export function segment(marker: number, data: Buffer | readonly number[]): Buffer {
  const body = Buffer.from(data);
  return Buffer.concat([Buffer.of(0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255), body]);
}

/** A sequential JPEG of the scene, written by the specification alone. */
export function writeJpeg(options: JpegOptions = {}): Buffer {
  const { width = 64, height = 48, space = "ycc", segments = [], adobe, jfif, wideTables } = options;
  const count = { grey: 1, ycc: 3, rgb: 3, cmyk: 4, ycck: 4 }[space];
  const { sampling = Array.from({ length: count }, () => [1, 1] as const), ids = [1, 2, 3, 4] } = options;
  const used = ids.slice(0, count);
  const quantisers = QUANTISATION.flatMap((step) =>
    wideTables ? [0, Math.ceil(step / 4)] : [Math.ceil(step / 4)],
  );
  const huffman = ([kind, table]: readonly [number, HuffmanTable]) => [
    kind,
    ...table.counts,
    ...table.values,
  ];
  const tables = [[0x00, DC_TABLE] as const, [0x10, AC_TABLE] as const];
  const frame = used.flatMap((id, index) => [
    id,
    ((sampling[index]?.[0] ?? 1) << 4) | (sampling[index]?.[1] ?? 1),
    0,
  ]);
  const parts = [
    ...(jfif ? [segment(0xe0, Buffer.from("JFIF\0\x01\x01\0\0\x01\0\x01\0\0", "latin1"))] : []),
    ...(adobe === undefined
      ? []
      : [segment(0xee, Buffer.from(`Adobe\0d\0\0\0\0${String.fromCharCode(adobe)}`, "latin1"))]),
    ...segments,
    segment(0xdb, [wideTables ? 0x10 : 0, ...quantisers]),
    segment(wideTables ? 0xc1 : 0xc0, [
      8,
      height >> 8,
      height & 255,
      width >> 8,
      width & 255,
      count,
      ...frame,
    ]),
    ...(options.joinedTables
      ? [segment(0xc4, tables.flatMap(huffman))]
      : tables.map((table) => segment(0xc4, huffman(table)))),
    ...(options.restart ? [segment(0xdd, [options.restart >> 8, options.restart & 255])] : []),
    ...scansOf({ ...options, width, height, space }, sampling, used),
    Buffer.of(0xff, 0xd9),
  ];
  return Buffer.concat([Buffer.of(0xff, 0xd8), ...parts]);
}

type Filled = JpegOptions & Required<Pick<JpegOptions, "width" | "height" | "space">>;

function scansOf(
  options: Filled,
  sampling: readonly (readonly [number, number])[],
  ids: readonly number[],
): Buffer[] {
  const all = ids.map((_, index) => index);
  const groups = options.separateScans ? all.map((index) => [index]) : [all];
  return groups.map((components) => {
    const header = components.flatMap((index) => [ids[index] ?? 0, 0]);
    const head = segment(0xda, [components.length, ...header, 0, 63, 0]);
    return Buffer.concat([head, scanData(options, sampling, components)]);
  });
}

function scanData(
  options: Filled,
  sampling: readonly (readonly [number, number])[],
  components: readonly number[],
): Buffer {
  const { width, height, restart } = options;
  const most = [Math.max(...sampling.map(([x]) => x)), Math.max(...sampling.map(([, y]) => y))] as const;
  const bits = new BitWriter();
  const last = new Map<number, number>();
  const only = components.length === 1 ? sampling[components[0] ?? 0] : undefined;
  // A scan of one component has single blocks, as many as its own samples need.
  const [unitWidth, unitHeight] = only
    ? [(8 * most[0]) / only[0], (8 * most[1]) / only[1]]
    : [8 * most[0], 8 * most[1]];
  const [columns, rows] = [Math.ceil(width / unitWidth), Math.ceil(height / unitHeight)];
  for (let unit = 0; unit < columns * rows; unit++) {
    if (restart && unit > 0 && unit % restart === 0) {
      bits.marker(0xd0 + ((unit / restart - 1) % 8));
      last.clear();
    }
    const [left, top] = [(unit % columns) * unitWidth, Math.floor(unit / columns) * unitHeight];
    for (const component of components) {
      const [across, down] = only ? [1, 1] : (sampling[component] ?? [1, 1]);
      const step = only ? [unitWidth / 8, unitHeight / 8] : [most[0] / across, most[1] / down];
      for (let block = 0; block < across * down; block++) {
        const x = left + (block % across) * 8 * (step[0] ?? 1);
        const y = top + Math.floor(block / across) * 8 * (step[1] ?? 1);
        const coefficients = transform((column, row) =>
          valueAt(options, component, x + (column + 0.5) * (step[0] ?? 1), y + (row + 0.5) * (step[1] ?? 1)),
        );
        bits.block(coefficients, last.get(component) ?? 0);
        last.set(component, coefficients[0] ?? 0);
      }
    }
  }
  return bits.end();
}

/** One component of the scene on white, minus 128. */
function valueAt({ width, height, space }: Filled, component: number, x: number, y: number): number {
  const [r = 0, g = 0, b = 0, alpha] = sceneAt(Math.min(x / width, 1), Math.min(y / height, 1));
  const [red, green, blue] = [r, g, b].map((value) => 255 * (value * alpha + 1 - alpha)) as [
    number,
    number,
    number,
  ];
  const luma = (values: readonly [number, number, number]) =>
    0.299 * values[0] + 0.587 * values[1] + 0.114 * values[2];
  const y0 = luma([red, green, blue]);
  const chroma = [y0, 128 + (blue - y0) * 0.564, 128 + (red - y0) * 0.713];
  const black = Math.max(red, green, blue, 1);
  // Inverted inks, as Adobe stores them: 255 is none.
  const inks = [red, green, blue].map((value) => (255 * value) / black) as [number, number, number];
  const inkLuma = luma(inks);
  const all = {
    grey: [y0],
    ycc: chroma,
    rgb: [red, green, blue],
    cmyk: [...inks, black],
    ycck: [inkLuma, 128 + (inks[2] - inkLuma) * 0.564, 128 + (inks[0] - inkLuma) * 0.713, black],
  };
  return (all[space][component] ?? 0) - 128;
}

const COSINES = Array.from({ length: 64 }, (_, index) => {
  const [u, x] = [index >> 3, index & 7];
  return Math.cos(((2 * x + 1) * u * Math.PI) / 16) * (u === 0 ? Math.SQRT1_2 : 1) * 0.5;
});

/** Quantised coefficients in zigzag order. */
function transform(at: (column: number, row: number) => number): number[] {
  const half = new Float64Array(64);
  for (let row = 0; row < 8; row++) {
    const values = Array.from({ length: 8 }, (_, column) => at(column, row));
    for (let u = 0; u < 8; u++) {
      half[row * 8 + u] = values.reduce((sum, value, x) => sum + value * (COSINES[u * 8 + x] ?? 0), 0);
    }
  }
  return ZIGZAG.map((place, index) => {
    const [v, u] = [place >> 3, place & 7];
    let sum = 0;
    for (let row = 0; row < 8; row++) sum += (half[row * 8 + u] ?? 0) * (COSINES[v * 8 + row] ?? 0);
    return Math.round(sum / Math.ceil((QUANTISATION[index] ?? 1) / 4));
  });
}

const DC_CODES = codesOf(DC_TABLE);
const AC_CODES = codesOf(AC_TABLE);

class BitWriter {
  readonly #bytes: number[] = [];
  #rest = 0;
  #bits = 0;

  block(coefficients: readonly number[], lastDc: number): void {
    this.#value(DC_CODES, 0, (coefficients[0] ?? 0) - lastDc);
    let zeros = 0;
    for (const value of coefficients.slice(1)) {
      if (value === 0) {
        zeros++;
        continue;
      }
      for (; zeros > 15; zeros -= 16) this.#code(AC_CODES, 0xf0);
      this.#value(AC_CODES, zeros, value);
      zeros = 0;
    }
    if (zeros > 0) this.#code(AC_CODES, 0);
  }

  marker(marker: number): void {
    this.#align();
    this.#bytes.push(0xff, marker);
  }

  end(): Buffer {
    this.#align();
    return Buffer.from(this.#bytes);
  }

  #value(codes: typeof DC_CODES, zeros: number, value: number): void {
    const size = value === 0 ? 0 : 32 - Math.clz32(Math.abs(value));
    this.#code(codes, (zeros << 4) | size);
    if (size > 0) this.#write(value < 0 ? value + 2 ** size - 1 : value, size);
  }

  #code(codes: typeof DC_CODES, symbol: number): void {
    const found = codes.get(symbol);
    if (found === undefined) throw new Error(`No code for ${symbol}`);
    this.#write(...found);
  }

  #write(value: number, bits: number): void {
    for (let bit = bits - 1; bit >= 0; bit--) {
      this.#rest = (this.#rest << 1) | ((value >> bit) & 1);
      if (++this.#bits === 8) this.#flush();
    }
  }

  #align(): void {
    while (this.#bits > 0) this.#write(1, 1);
  }

  #flush(): void {
    this.#bytes.push(this.#rest);
    if (this.#rest === 0xff) this.#bytes.push(0);
    [this.#rest, this.#bits] = [0, 0];
  }
}
