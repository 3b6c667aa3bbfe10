import assert from "node:assert/strict";
import type {
  ImageFormat,
  OriginalFacts,
  OriginalType,
  Renderer,
  RenditionSpec,
  Size,
} from "@outrigger/core/images";
import type { RendererCase } from "./renderer-cleaning.ts";
import { declaredSize, SAMPLE_FRAMES, SAMPLE_SIZE, samples } from "./renderer-samples.ts";

export const types = Object.keys(samples) as OriginalType[];
export const formats: ImageFormat[] = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
/** Formats whose header contains the size in an easily parsed form. */
const measurable = ["png", "jpg", "gif", "psd"] as const;

/** Whether a renderer declares a conversion. */
export function canRender(renderer: Renderer, type: OriginalType, format: ImageFormat): boolean {
  return renderer.canRender?.(type, format) ?? true;
}

/** Facts about renditions that a renderer reports besides their bytes. */
export function checkRenditions(it: (name: string, body: RendererCase) => void): void {
  it("measure returns the size that render produces, for a box and for an exact size", async (renderer) => {
    for (const [type, format] of offered(renderer)) {
      for (const box of [{}, { maxWidth: 17 }, { maxHeight: 13 }, { maxWidth: 99, maxHeight: 99 }]) {
        const spec: RenditionSpec = { format, ...box };
        const size = renderer.measure(factsOf(type), spec);
        if (size === null) continue;
        for (const each of [spec, { format, ...size }]) {
          const bytes = await rendered(renderer, type, each);
          assert.deepEqual(declaredSize(bytes, format), size, `${type} as ${JSON.stringify(each)}`);
        }
      }
    }
  });

  it("cover gives the box or the largest size with its ratio, pad gives the box, and measure says so", async (renderer) => {
    const crops: [RendererCrop, Size, Size][] = [
      // The sample has 64 × 32 pixels. A vector image is drawn as large as the box.
      [{ fit: "cover", maxWidth: 16, maxHeight: 16 }, sized(16), sized(16)],
      [{ fit: "cover", maxWidth: 48, maxHeight: 12, at: [0, 1] }, sized(48, 12), sized(48, 12)],
      [{ fit: "cover", maxWidth: 96, maxHeight: 96, at: [0.3, 0.62] }, sized(32), sized(96)],
      [{ fit: "cover", maxWidth: 16, maxHeight: 8 }, sized(16, 8), sized(16, 8)],
      [{ fit: "pad", maxWidth: 24, maxHeight: 24 }, sized(24), sized(24)],
      [{ fit: "pad", maxWidth: 80, maxHeight: 80, background: "ff8800" }, sized(80), sized(80)],
    ];
    for (const [type, format] of offered(renderer)) {
      for (const [crop, raster, vector] of crops) {
        const spec: RenditionSpec = { format, ...crop };
        const label = `${type} as ${JSON.stringify(spec)}`;
        const bytes = await rendered(renderer, type, spec);
        assert.deepEqual(declaredSize(bytes, format), isVector(type) ? vector : raster, label);
        const layout = renderer.measure(factsOf(type), spec);
        if (layout === null) continue;
        const { width, height } = layout;
        assert.deepEqual({ width, height }, isVector(type) ? vector : raster, label);
        const { fit: _fit, at: _at, maxWidth: _width, maxHeight: _height, ...look } = crop;
        const exact = await rendered(renderer, type, { format, ...look, ...layout });
        assert.ok(exact.equals(bytes), `${label}, by its layout`);
      }
    }
  });

  it("edits change the finished picture: a quarter turn exchanges its sides, and the original is not served as it is", async (renderer) => {
    for (const [type, format] of offered(renderer)) {
      const spec: RenditionSpec = { format, maxWidth: 32, edits: { digest: "0".repeat(16), rotate: 90 } };
      const before = { width: 32, height: 16 };
      assert.deepEqual(renderer.measure(factsOf(type), spec) ?? before, before);
      const bytes = await rendered(renderer, type, spec);
      assert.deepEqual(declaredSize(bytes, format), { width: 16, height: 32 }, `${type} as ${format}`);
      const turned: RenditionSpec = { format, edits: { digest: "1".repeat(16), rotate: 180 } };
      const { bytes: changed } = await renderer.render({ bytes: samples[type] }, type, turned);
      assert.ok(!changed.equals(samples[type]), `${type} as ${format}`);
    }
  });

  it("cover keeps the part that at names, and a found part is the same each time", async (renderer) => {
    if (!canRender(renderer, "image/png", "png")) return;
    const cut = async (at: RenditionSpec["at"]) => {
      const box = { maxWidth: 32, maxHeight: 32, fit: "cover", ...(at === undefined ? {} : { at }) } as const;
      return rendered(renderer, "image/png", { format: "png", ...box });
    };
    const [left, centre, right] = [await cut([0, 0.5]), await cut(undefined), await cut([1, 0.5])];
    assert.ok(!left.equals(centre) && !right.equals(centre) && !left.equals(right));
    assert.ok(centre.equals(await cut([0.5, 0])), "the default is the centre");
    assert.ok(left.equals(await cut([0.25, 1])), "the edge of the picture bounds the cut");
    for (const at of ["attention", "entropy"] as const) {
      const found = await cut(at);
      assert.deepEqual(declaredSize(found, "png"), { width: 32, height: 32 });
      assert.ok(found.equals(await cut(at)), at);
    }
  });

  it("onCost is called once, before the render settles", async (renderer) => {
    for (const [type, format] of offered(renderer).slice(0, 1)) {
      for (const bytes of [samples[type], Buffer.alloc(9)]) {
        const events: (number | "settled")[] = [];
        const onCost = (cpuMs: number) => events.push(cpuMs);
        const settled = () => events.push("settled");
        await renderer.render({ bytes }, type, { format }, { onCost }).then(settled, settled);
        const [cpuMs, last] = events;
        assert.ok(events.length === 2 && Number(cpuMs) >= 0 && last === "settled", events.join());
      }
    }
  });
}

/** The bytes of a sample, converted. */
export async function rendered(renderer: Renderer, type: OriginalType, spec: RenditionSpec): Promise<Buffer> {
  return (await renderer.render({ bytes: samples[type] }, type, spec)).bytes;
}

/** Whether a sample has no pixels of its own. */
export function isVector(type: OriginalType): boolean {
  return type === "image/svg+xml" || type === "application/pdf";
}

type RendererCrop = Omit<RenditionSpec, "format">;

/** A square without the height. */
function sized(width: number, height = width): Size {
  return { width, height };
}

/** The facts in the record of a sample. */
function factsOf(type: OriginalType): OriginalFacts {
  const pages = type === "image/gif" ? SAMPLE_FRAMES : 1;
  return { type, ...SAMPLE_SIZE, pages, size: samples[type].length };
}

/** The supported conversions whose result can be measured here. */
export function offered(renderer: Renderer): [OriginalType, (typeof measurable)[number]][] {
  return types.flatMap((type) =>
    measurable
      .filter((format) => canRender(renderer, type, format))
      .map((format): [OriginalType, (typeof measurable)[number]] => [type, format]),
  );
}
