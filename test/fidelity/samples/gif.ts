import { type Sample, sample } from "./sample.ts";
import { extension, type GifFrame, type GifOptions, writeGif } from "./write-gif.ts";

const SIZE = { width: 20, height: 12 } as const;

const gif = (name: string, options: Partial<GifOptions>) =>
  sample("gif", name, writeGif({ ...SIZE, ...options }));

/** A block that says how often an animation repeats. */
export function repeats(count: number, application = "NETSCAPE2.0"): Buffer {
  return extension(0xff, application, Buffer.of(1, count & 255, count >> 8));
}

/** An animation of frames with these delays, in hundredths of a second. */
export function animated(
  delays: readonly number[],
  before: Buffer[] = [],
  frame: Partial<GifFrame> = {},
): Buffer {
  const frames = delays.map((delay, index) => ({ ...SIZE, delay, index: () => (index + 1) % 64, ...frame }));
  return writeGif({ ...SIZE, before, frames });
}

/** GIFs with repetitions, delays, sizes, palettes and codes at and beyond their bounds. */
export function oddGifs(): Sample[] {
  return [...timings(), ...places(), ...palettes(), ...codes(), ...structures()];
}

function timings(): Sample[] {
  const loops = [0, 1, 2, 32_767, 32_768, 65_534, 65_535];
  const delays = [
    [0, 0],
    [1, 1],
    [6553, 6554],
    [65_535, 65_535],
    [0, 65_535],
    [6554, 0],
  ];
  return [
    ...loops.map((count) => sample("gif", `repeats ${count}`, animated([10, 10], [repeats(count)]))),
    ...loops
      .slice(-2)
      .map((count) => sample("gif", `one frame repeats ${count}`, animated([10], [repeats(count)]))),
    ...delays.map((delay) => sample("gif", `delays ${delay.join(" ")}`, animated(delay, [repeats(65_535)]))),
    sample("gif", "delays without repetition", animated([65_535, 10])),
    sample("gif", "ANIMEXTS repeats 65535", animated([5, 5], [repeats(65_535, "ANIMEXTS1.0")])),
    sample("gif", "two repetitions", animated([5, 5], [repeats(65_535), repeats(1)])),
    sample("gif", "repetition cut", animated([5, 5], [extension(0xff, "NETSCAPE2.0", Buffer.of(1))])),
    sample(
      "gif",
      "repetition of four bytes",
      animated([5, 5], [extension(0xff, "NETSCAPE2.0", Buffer.of(1, 255, 255, 255))]),
    ),
    sample(
      "gif",
      "500 frames",
      animated(
        Array.from({ length: 500 }, () => 65_535),
        [repeats(65_535)],
      ),
    ),
    sample("gif", "501 frames", animated(Array.from({ length: 501 }, () => 1))),
  ];
}

function places(): Sample[] {
  const frames: Record<string, GifFrame> = {
    "width 0": { width: 0, height: 12 },
    "height 0": { width: 20, height: 0 },
    "0 x 0": { width: 0, height: 0 },
    outside: { left: 100, top: 100, width: 5, height: 5 },
    "at the largest place": { left: 65_535, top: 65_535, width: 1, height: 1 },
    "larger than the screen": { width: 90, height: 80 },
    interlaced: { ...SIZE, interlaced: true },
  };
  return [
    ...Object.entries(frames).map(([name, frame]) => gif(`frame ${name}`, { frames: [frame] })),
    ...Object.entries(frames).map(([name, frame]) =>
      gif(`second frame ${name}`, { frames: [SIZE, { ...frame, delay: 4 }] }),
    ),
    ...Array.from({ length: 8 }, (_, disposal) =>
      gif(`disposal ${disposal}`, {
        frames: [
          { ...SIZE, disposal },
          { width: 5, height: 5, disposal },
        ],
      }),
    ),
    gif("no frames", { frames: [] }),
    gif("screen 0 x 0", { width: 0, height: 0, frames: [SIZE] }),
    gif("screen 0 x 0 and no frames", { width: 0, height: 0, frames: [] }),
    gif("screen 65535 x 1", { width: 65_535, height: 1, frames: [{ width: 1, height: 1 }] }),
    gif("screen 65535 x 65535", { width: 65_535, height: 65_535, frames: [{ width: 1, height: 1 }] }),
    gif("1 x 1", {
      width: 1,
      height: 1,
      frames: [
        { width: 1, height: 1 },
        { width: 1, height: 1, delay: 65_535 },
      ],
    }),
  ];
}

function palettes(): Sample[] {
  return [
    gif("no palette", { colours: 0 }),
    gif("local palette alone", { colours: 0, frames: [{ ...SIZE, localColours: 8 }] }),
    gif("two colours", { colours: 2, frames: [{ ...SIZE, index: () => 1 }] }),
    gif("colour outside its palette", { colours: 4, frames: [{ ...SIZE, index: () => 7, codeSize: 8 }] }),
    gif("background outside its palette", {
      colours: 4,
      background: 200,
      frames: [{ width: 3, height: 3, index: () => 1 }],
    }),
    gif("transparent colour outside its palette", {
      colours: 4,
      frames: [{ ...SIZE, index: () => 1, transparent: 200 }],
    }),
    gif("wholly transparent", {
      frames: [
        { ...SIZE, index: () => 3, transparent: 3 },
        { ...SIZE, index: () => 3, transparent: 3, disposal: 2 },
      ],
    }),
    gif("aspect 255", { aspect: 255 }),
  ];
}

function codes(): Sample[] {
  return [
    ...[2, 8, 11].map((codeSize) =>
      gif(`codes of ${codeSize} bits`, { colours: 4, frames: [{ ...SIZE, index: () => 1, codeSize }] }),
    ),
    gif("without an end code", { frames: [{ ...SIZE, endless: true }] }),
    gif("clear code after each code", { frames: [{ ...SIZE, clearEvery: 1 }] }),
    gif("blocks of one byte", { frames: [{ ...SIZE, blockBytes: 1 }] }),
  ];
}

function structures(): Sample[] {
  const whole = animated([10, 10], [repeats(65_535)]);
  const put = (name: string, bytes: Buffer) => sample("gif", name, bytes);
  return [
    put("header alone", whole.subarray(0, 6)),
    put("screen alone", whole.subarray(0, 13)),
    put("cut in its palette", whole.subarray(0, 40)),
    put("cut in its second frame", whole.subarray(0, -20)),
    put("without a trailer", whole.subarray(0, -1)),
    put("version 87a", Buffer.concat([Buffer.from("GIF87a"), whole.subarray(6)])),
    put("version 00a", Buffer.concat([Buffer.from("GIF00a"), whole.subarray(6)])),
    put(
      "code size 0",
      Buffer.from(whole.toString("latin1").replace(/(,[\s\S]{8}\0)[\s\S]/, "$1\0"), "latin1"),
    ),
    put("text block", writeGif({ ...SIZE, before: [extension(0x01, Buffer.alloc(12), "text")] })),
    put("unknown block", Buffer.concat([whole.subarray(0, -1), Buffer.of(0x99, 1, 2, 0x3b)])),
  ];
}
