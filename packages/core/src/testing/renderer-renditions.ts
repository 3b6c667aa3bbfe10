import assert from "node:assert/strict";
import type {
  ImageFormat,
  OriginalFacts,
  OriginalType,
  Renderer,
  RenditionSpec,
} from "../contracts/renderer.ts";
import type { RendererCase } from "./renderer-cleaning.ts";
import { declaredSize, SAMPLE_FRAMES, SAMPLE_SIZE, samples } from "./renderer-samples.ts";

export const types = Object.keys(samples) as OriginalType[];
export const formats: ImageFormat[] = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
/** Formats whose header contains the size in an easily parsed form. */
const measurable = ["png", "jpg", "gif", "psd"] as const;

/** Facts about renditions that a renderer reports besides their bytes. */
export function checkRenditions(check: (name: string, body: RendererCase) => void): void {
  check(
    "measure returns the size that render produces, for a box and for an exact size",
    async (renderer) => {
      for (const [type, format] of offered(renderer)) {
        for (const box of [{}, { maxWidth: 17 }, { maxHeight: 13 }, { maxWidth: 99, maxHeight: 99 }]) {
          const spec: RenditionSpec = { format, ...box };
          const size = renderer.measure(factsOf(type), spec);
          if (size === null) continue;
          for (const each of [spec, { format, ...size }]) {
            const { bytes } = await renderer.render({ bytes: samples[type] }, type, each);
            assert.deepEqual(declaredSize(bytes, format), size, `${type} as ${JSON.stringify(each)}`);
          }
        }
      }
    },
  );

  check("look returns an integer of at least 1 for every conversion", async (renderer) => {
    for (const type of types) {
      for (const format of formats) {
        const look = renderer.look(type, format);
        assert.ok(Number.isSafeInteger(look) && look >= 1, `${type} as ${format}: ${look}`);
      }
    }
  });

  check("an intermediate gives the same bytes as the original", async (renderer) => {
    for (const type of types) {
      for (const format of formats.filter((each) => renderer.canRender(type, each))) {
        const spec: RenditionSpec = { format, maxWidth: 40 };
        const { bytes, intermediate } = await renderer.render({ bytes: samples[type] }, type, spec);
        const isExpected = renderer.usesIntermediate?.(factsOf(type), spec) ?? false;
        assert.equal(intermediate !== undefined, isExpected, `${type} as ${format}`);
        if (intermediate === undefined) continue;
        const again = await renderer.render({ bytes: intermediate }, type, spec, { fromIntermediate: true });
        assert.ok(again.bytes.equals(bytes), `${type} as ${format}`);
      }
    }
  });

  check("onCost is called once, before the render settles", async (renderer) => {
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

/** The facts in the record of a sample. */
function factsOf(type: OriginalType): OriginalFacts {
  const pages = type === "image/gif" ? SAMPLE_FRAMES : 1;
  return { type, ...SAMPLE_SIZE, pages, size: samples[type].length };
}

/** The supported conversions whose result can be measured here. */
export function offered(renderer: Renderer): [OriginalType, (typeof measurable)[number]][] {
  return types.flatMap((type) =>
    measurable
      .filter((format) => renderer.canRender(type, format))
      .map((format): [OriginalType, (typeof measurable)[number]] => [type, format]),
  );
}
