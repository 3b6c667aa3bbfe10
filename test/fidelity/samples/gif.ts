import { byImageMagick, bySharp } from "./gif-encoders.ts";
import { type Sample, sample } from "./sample.ts";
import { extension, type GifFrame, type GifOptions, writeGif } from "./write-gif.ts";

/** GIFs of every form: palettes, frames beside the canvas, disposals, extensions, and the damage of bad encoders. */
export async function gifSamples(): Promise<Sample[]> {
  return [
    ...palettes(),
    ...canvases(),
    ...animations(),
    ...extensions(),
    ...faults(),
    ...(await bySharp()),
    ...(await byImageMagick()),
  ];
}

const gif = (name: string, options: GifOptions) => sample("gif", name, writeGif(options));

function palettes(): Sample[] {
  const found: Sample[] = [];
  for (const colours of [2, 3, 4, 8, 16, 31, 64, 128, 200, 256]) {
    for (const interlaced of [false, true]) {
      const [width, height] = [67, 45];
      const name = `${colours} colours${interlaced ? " interlaced" : ""}`;
      const frame: GifFrame = { width, height, interlaced };
      found.push(gif(name, { width, height, colours, frames: [frame] }));
      found.push(gif(`${name} 87a`, { width, height, colours, version: "87a", frames: [frame] }));
      found.push(
        gif(`${name} local`, { width, height, colours: 0, frames: [{ ...frame, localColours: colours }] }),
      );
      found.push(
        gif(`${name} transparent`, { width, height, colours, frames: [{ ...frame, transparent: 1 }] }),
      );
    }
  }
  for (const [width, height] of [
    [1, 1],
    [1, 99],
    [300, 2],
    [8, 8],
  ] as const) {
    for (const interlaced of [false, true])
      found.push(
        gif(`${width}x${height}${interlaced ? " interlaced" : ""}`, {
          width,
          height,
          frames: [{ width, height, interlaced }],
        }),
      );
  }
  const whole = { width: 64, height: 48 };
  const frames: Record<string, Partial<GifFrame>> = {
    "larger code size": { codeSize: 8 },
    "without end code": { endless: true },
    "clear code often": { clearEvery: 20 },
    "clear code late": { clearEvery: 1e9 },
    "blocks of one byte": { blockBytes: 1 },
    "blocks of 100 bytes": { blockBytes: 100 },
    "transparent colour not used": { transparent: 200 },
    "all transparent but a disc": {
      transparent: 0,
      index: (x, y) => ((x - 30) ** 2 + (y - 20) ** 2 < 200 ? 40 : 0),
    },
    "all transparent": { transparent: 0, index: () => 0 },
    "no transparent pixel": { transparent: 3, index: (x) => (x % 2 === 0 ? 10 : 60) },
    "indices beyond the palette": { codeSize: 8, index: (x) => (x % 2 === 0 ? 10 : 200) },
  };
  for (const [name, frame] of Object.entries(frames))
    found.push(gif(name, { frames: [{ ...whole, ...frame }] }));
  found.push(
    gif("large clear code late", {
      width: 250,
      height: 250,
      colours: 256,
      frames: [{ width: 250, height: 250, clearEvery: 1e9 }],
    }),
  );
  found.push(gif("large", { width: 500, height: 400, colours: 256, frames: [{ width: 500, height: 400 }] }));
  return found;
}

/** Frames that are not the canvas. */
function canvases(): Sample[] {
  const places: Record<string, GifFrame> = {
    "frame in the middle": { left: 10, top: 8, width: 30, height: 20 },
    "frame at the lower right": { left: 44, top: 28, width: 20, height: 20 },
    "frame at the upper left": { width: 20, height: 20 },
    "frame wider than the canvas": { width: 80, height: 48 },
    "frame higher than the canvas": { width: 64, height: 70 },
    "frame larger than the canvas": { width: 90, height: 70 },
    "frame half outside": { left: 40, top: 30, width: 40, height: 40 },
    "frame of one pixel": { left: 32, top: 24, width: 1, height: 1 },
    "frame one row short": { width: 64, height: 47 },
  };
  const found: Sample[] = [];
  for (const [name, frame] of Object.entries(places)) {
    found.push(gif(name, { frames: [frame] }));
    found.push(gif(`${name}, background 5`, { background: 5, frames: [frame] }));
    found.push(gif(`${name}, transparent`, { frames: [{ ...frame, transparent: 30 }] }));
    found.push(gif(`${name}, interlaced`, { frames: [{ ...frame, interlaced: true }] }));
    found.push(
      gif(`${name}, animated`, {
        frames: [
          { ...frame, delay: 10 },
          { width: 64, height: 48, delay: 10 },
        ],
      }),
    );
    found.push(gif(`${name}, local palette`, { colours: 0, frames: [{ ...frame, localColours: 16 }] }));
  }
  found.push(
    gif("canvas of no size", { width: 64, height: 48, frames: [{ width: 64, height: 48 }], aspect: 49 }),
  );
  found.push(gif("aspect ratio 2:1", { aspect: 113 }));
  return found;
}

function animations(): Sample[] {
  const found: Sample[] = [];
  for (const disposal of [0, 1, 2, 3, 4, 7]) {
    for (const count of [2, 5]) {
      const frames = Array.from(
        { length: count },
        (_, index): GifFrame => ({
          left: index * 5,
          top: index * 4,
          width: 40,
          height: 24,
          disposal,
          delay: 5,
        }),
      );
      found.push(
        gif(`${count} frames, disposal ${disposal}`, {
          frames: [{ width: 64, height: 48, disposal, delay: 5 }, ...frames],
        }),
      );
      found.push(gif(`${count} frames, disposal ${disposal}, no full frame`, { frames }));
      found.push(
        gif(`${count} frames, disposal ${disposal}, transparent`, {
          frames: frames.map((frame) => ({ ...frame, transparent: 20 })),
        }),
      );
    }
  }
  for (const count of [20, 60]) {
    const frames = Array.from(
      { length: count },
      (_, index): GifFrame => ({ left: index, width: 4, height: 48, delay: 2 }),
    );
    found.push(gif(`${count} frames`, { frames: [{ width: 64, height: 48, delay: 2 }, ...frames.slice(1)] }));
  }
  const loops = { "loops for ever": "\x01\0\0", "loops thrice": "\x01\x03\0" };
  for (const [name, loop] of Object.entries(loops)) {
    for (const application of ["NETSCAPE2.0", "ANIMEXTS1.0"]) {
      const frames: GifFrame[] = [
        { width: 64, height: 48, delay: 0 },
        { width: 30, height: 30, delay: 9 },
      ];
      found.push(gif(`${name}, ${application}`, { before: [extension(0xff, application, loop)], frames }));
    }
  }
  for (const delay of [0, 1, 65_535])
    found.push(
      gif(`delay ${delay}`, {
        frames: [
          { width: 64, height: 48, delay },
          { width: 9, height: 9, delay },
        ],
      }),
    );
  const palette: GifFrame[] = [2, 16, 256].map((localColours) => ({
    width: 64,
    height: 48,
    delay: 3,
    localColours,
  }));
  found.push(
    gif("local palettes", { frames: palette }),
    gif("local palettes only", { colours: 0, frames: palette }),
  );
  return found;
}

function extensions(): Sample[] {
  const sets: Record<string, Buffer> = {
    comment: extension(0xfe, "A comment"),
    "a long comment": extension(0xfe, ...Array.from({ length: 50 }, () => "x".repeat(255))),
    "an empty comment": extension(0xfe),
    "plain text": extension(0x01, "\0\0\0\0\x40\0\x10\0\x08\x08\x01\0", "text"),
    XMP: Buffer.concat([
      extension(0xff, "XMP DataXMP").subarray(0, -1),
      Buffer.from("<x/>\x01"),
      Buffer.from(Array.from({ length: 256 }, (_, i) => 255 - i)),
      Buffer.of(0),
    ]),
    "unknown application": extension(0xff, "UNKNOWN1.0 ", "data"),
    "application name of a wrong length": extension(0xff, "SHORT", "data"),
    "unknown extension": extension(0x42, "data"),
    "ICC profile": extension(0xff, "ICCRGBG1012", "damaged"),
    "two control extensions": Buffer.concat([
      extension(0xf9, "\0\x05\0\0"),
      extension(0xf9, "\x01\x05\0\x02"),
    ]),
    "control extension of a wrong length": extension(0xf9, "\x01\x05\0\x02\0\0"),
  };
  return Object.entries(sets).flatMap(([name, block]) => [
    gif(`${name} before`, { before: [block] }),
    gif(`${name} after`, { after: [block] }),
  ]);
}

function faults(): Sample[] {
  const whole = writeGif();
  const animated = writeGif({
    frames: [
      { width: 64, height: 48, delay: 5 },
      { width: 40, height: 40, delay: 5 },
    ],
  });
  const canvas = (width: number, height: number) => {
    const changed = Buffer.from(whole);
    changed.writeUInt16LE(width, 6);
    changed.writeUInt16LE(height, 8);
    return changed;
  };
  const flipped = Buffer.from(whole);
  flipped[whole.length - 200] = (flipped[whole.length - 200] ?? 0) ^ 0xff;
  const made: Record<string, Buffer> = {
    "without trailer": whole.subarray(0, -1),
    "without trailer and last block's end": whole.subarray(0, -2),
    "another byte for the trailer": Buffer.concat([whole.subarray(0, -1), Buffer.of(0)]),
    "two trailers": Buffer.concat([whole, Buffer.of(0x3b)]),
    "bytes after the trailer": Buffer.concat([whole, Buffer.from("trailing data")]),
    "a picture after the trailer": Buffer.concat([whole, whole]),
    "zeros before the trailer": Buffer.concat([whole.subarray(0, -1), Buffer.alloc(5), Buffer.of(0x3b)]),
    "canvas of zero size": canvas(0, 0),
    "canvas of zero height": canvas(64, 0),
    "canvas of one pixel": canvas(1, 1),
    "last bytes of the pixels missing": Buffer.concat([whole.subarray(0, -12), Buffer.of(0x3b)]),
    "cut at the last 5 %": whole.subarray(0, Math.round(whole.length * 0.95)),
    "cut at half": whole.subarray(0, whole.length >> 1),
    "animated, without trailer": animated.subarray(0, -1),
    "animated, second frame cut": animated.subarray(0, -100),
    "a damaged byte in the pixels": flipped,
    "version 88a": Buffer.concat([Buffer.from("GIF88a"), whole.subarray(6)]),
    "frame of zero size after a picture": writeGif({
      frames: [
        { width: 64, height: 48 },
        { width: 0, height: 0, delay: 3 },
      ],
    }),
    "fewer pixels than declared": shortened(),
    "no palette at all": writeGif({ colours: 0 }),
  };
  return Object.entries(made).map(([name, bytes]) => sample("gif", name, bytes));
}

/** Pixels of 40 rows in a frame of 48. */
function shortened(): Buffer {
  const bytes = writeGif({ frames: [{ width: 64, height: 40 }] });
  bytes.writeUInt16LE(48, bytes.indexOf(Buffer.from([0x2c, 0, 0, 0, 0, 64, 0])) + 7);
  return bytes;
}
