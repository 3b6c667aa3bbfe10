import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ErrorCode, isServiceError } from "@outrigger/core";
import type { Renderer, RenditionSpec } from "@outrigger/core/images";
import type { ConformanceTest } from "./conformance-test.ts";
import { assertRecognised } from "./foreign-copy.ts";
import { admit, checkCleaning, type RendererCase } from "./renderer-cleaning.ts";
import {
  canRender,
  checkRenditions,
  formats,
  isVector,
  offered,
  rendered,
  types,
} from "./renderer-renditions.ts";
import { declaredSize, hugePng, looksLike, SAMPLE_FRAMES, SAMPLE_SIZE, samples } from "./renderer-samples.ts";

/**
 * Tests that a renderer fulfils the {@link Renderer} contract. `create` returns a new renderer with the
 * contract's limits; each case closes its own. A renderer with fewer conversions passes if `canRender`
 * reports them.
 */
export function rendererContract(test: ConformanceTest, create: () => Renderer | Promise<Renderer>): void {
  const it = (name: string, body: RendererCase): void =>
    test(`renderer: ${name}`, async () => {
      const renderer = await create();
      try {
        await body(renderer);
      } finally {
        await renderer.close();
      }
    });

  it("build has only characters that are allowed in an ETag and a key", async (renderer) => {
    assert.match(renderer.build, /^[a-z0-9.]{1,24}$/);
  });

  for (const type of types) {
    it(`admit measures ${type}`, async (renderer) => {
      const { width, height, pages } = (await admit(renderer, { bytes: samples[type] }, type)).admission;
      assert.deepEqual(
        { width, height, pages },
        { ...SAMPLE_SIZE, pages: type === "image/gif" ? SAMPLE_FRAMES : 1 },
      );
    });

    it(`render converts ${type} to the formats in canRender, and rejects others with not_implemented`, async (renderer) => {
      for (const format of formats) {
        const rendering = renderer.render({ bytes: samples[type] }, type, { format });
        if (canRender(renderer, type, format)) {
          const { bytes } = await rendering;
          assert.ok(Buffer.isBuffer(bytes));
          assert.ok(looksLike(bytes, format), `${type} as ${format}`);
        } else {
          await rejectsWith(rendering, "not_implemented");
        }
      }
    });

    it(`admit rejects bytes that are not ${type} with unsupported_media`, async (renderer) => {
      const wrong = [
        Buffer.alloc(0),
        Buffer.alloc(600, 0xa7),
        Buffer.from("<html><body>no picture</body></html>"),
      ];
      const other = type === "image/png" ? "image/jpeg" : "image/png";
      for (const bytes of [...wrong, samples[other]]) {
        await rejectsWith(admit(renderer, { bytes }, type), "unsupported_media");
        for (const format of formats.filter((each) => canRender(renderer, type, each))) {
          await rejectsWith(renderer.render({ bytes }, type, { format }), "unsupported_media");
        }
      }
    });
  }

  for (const type of types.filter((each) => each !== "application/pdf")) {
    it(`admit rejects the first bytes of a ${type}, and half of it unless its pixels can be stored again`, async (renderer) => {
      const whole = samples[type];
      await rejectsWith(admit(renderer, { bytes: whole.subarray(0, 20) }, type), "unsupported_media");
      const half = admit(renderer, { bytes: whole.subarray(0, whole.length >> 1) }, type);
      if (type !== "image/png" && type !== "image/jpeg") await rejectsWith(half, "unsupported_media");
      else {
        const { admission } = await half;
        assert.deepEqual(admission.warnings, ["damage_repaired"], type);
      }
    });
  }

  checkCleaning(it);

  it("a file and its bytes as the source give the same rendition", async (renderer) => {
    const directory = await mkdtemp(join(tmpdir(), "renderer-"));
    try {
      const path = join(directory, "picture");
      await writeFile(path, samples["image/png"]);
      const { admission } = await admit(renderer, { path }, "image/png");
      const { placeholder: _placeholder, color: _color, alpha: _alpha, ...facts } = admission;
      assert.deepEqual(facts, { ...SAMPLE_SIZE, pages: 1, cleaned: null });
      if (!canRender(renderer, "image/png", "png")) return;
      const spec: RenditionSpec = { format: "png", maxWidth: 16 };
      const { bytes } = await renderer.render({ path }, "image/png", spec);
      assert.deepEqual(declaredSize(bytes, "png"), { width: 16, height: 8 });
      await writeFile(path, Buffer.concat([Buffer.alloc(96, "x"), samples["image/png"]]));
      const later = await renderer.render({ path, start: 96 }, "image/png", spec);
      assert.ok(later.bytes.equals(bytes), "from a byte on");
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it("render fits the picture into the box and keeps its aspect ratio", async (renderer) => {
    const boxes: [Omit<RenditionSpec, "format">, width: number, height: number][] = [
      [{ maxWidth: 16 }, 16, 8],
      [{ maxHeight: 4 }, 8, 4],
      [{ maxWidth: 32, maxHeight: 4 }, 8, 4],
      [{ maxWidth: 1, maxHeight: 1 }, 1, 1],
      [{}, SAMPLE_SIZE.width, SAMPLE_SIZE.height],
    ];
    for (const [type, format] of offered(renderer)) {
      for (const [box, width, height] of boxes) {
        const bytes = await rendered(renderer, type, { format, ...box });
        assert.deepEqual(
          declaredSize(bytes, format),
          { width, height },
          `${type} as ${format}, ${JSON.stringify(box)}`,
        );
      }
    }
  });

  it("render never enlarges a raster image, and draws a vector image as large as the box", async (renderer) => {
    for (const [type, format] of offered(renderer)) {
      const spec = { format, maxWidth: 256, maxHeight: 200 };
      const bytes = await rendered(renderer, type, spec);
      assert.deepEqual(
        declaredSize(bytes, format),
        isVector(type) ? { width: 256, height: 128 } : SAMPLE_SIZE,
        type,
      );
    }
  });

  checkRenditions(it);

  it("equal specs give equal bytes", async (renderer) => {
    for (const [type, format] of offered(renderer)) {
      const spec = { format, maxWidth: 40 };
      const first = await rendered(renderer, type, spec);
      assert.ok(first.equals(await rendered(renderer, type, spec)), `${type} as ${format}`);
    }
  });

  it("a higher quality gives more bytes", async (renderer) => {
    for (const [type] of offered(renderer).filter(([, format]) => format === "jpg")) {
      const lengths: number[] = [];
      for (const quality of ["low", "medium", "high", "max"] as const) {
        const bytes = await rendered(renderer, type, { format: "jpg", quality });
        lengths.push(bytes.length);
      }
      const ascending = lengths.toSorted((a, b) => a - b);
      assert.deepEqual(lengths, ascending, type);
    }
  });

  it("admit rejects a picture that declares more pixels than allowed", async (renderer) => {
    await rejectsWith(admit(renderer, { bytes: hugePng }, "image/png"), "unsupported_media");
    for (const format of formats.filter((each) => canRender(renderer, "image/png", each))) {
      await rejectsWith(renderer.render({ bytes: hugePng }, "image/png", { format }), "unsupported_media");
    }
  });

  it("the renderer still works after pictures that it could not read", async (renderer) => {
    const outcomes = await Promise.allSettled(
      [Buffer.alloc(9), samples["image/png"], hugePng, samples["image/png"]].map((bytes) =>
        admit(renderer, { bytes }, "image/png"),
      ),
    );
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ["rejected", "fulfilled", "rejected", "fulfilled"],
    );
  });

  it("calls with an already aborted signal reject with its reason", async (renderer) => {
    const reason = new Error("the client is gone");
    const signal = AbortSignal.abort(reason);
    const isReason = (error: unknown): boolean => error === reason;
    const options = { cleanedPath: join(tmpdir(), "never-written") };
    await assert.rejects(
      renderer.admit({ bytes: samples["image/png"] }, "image/png", options, { signal }),
      isReason,
    );
    if (!canRender(renderer, "image/png", "png")) return;
    const spec: RenditionSpec = { format: "png" };
    await assert.rejects(
      renderer.render({ bytes: samples["image/png"] }, "image/png", spec, { signal }),
      isReason,
    );
  });

  it("failures are errors that another copy of core recognises", async (renderer) => {
    const source = { bytes: Buffer.alloc(600, 0xa7) };
    await assertRecognised(() => admit(renderer, source, "image/png"), "unsupported_media");
    await renderer.close();
    await assertRecognised(() => admit(renderer, source, "image/png"), "overloaded");
  });

  it("close settles every open call", async (renderer) => {
    const calls = Array.from({ length: 12 }, () =>
      admit(renderer, { bytes: samples["image/gif"] }, "image/gif"),
    );
    const settled = Promise.allSettled(calls);
    await renderer.close();
    for (const outcome of await settled) {
      if (outcome.status === "rejected") assertOverloaded(outcome.reason);
    }
  });

  it("close may be called twice, and every call after it rejects with overloaded", async (renderer) => {
    await admit(renderer, { bytes: samples["image/png"] }, "image/png");
    await Promise.all([renderer.close(), renderer.close()]);
    await renderer.close();
    const source = { bytes: samples["image/png"] };
    await assert.rejects(admit(renderer, source, "image/png"), assertOverloaded);
    if (!canRender(renderer, "image/png", "png")) return;
    await assert.rejects(renderer.render(source, "image/png", { format: "png" }), assertOverloaded);
  });
}

async function rejectsWith(call: Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(isServiceError(error), String(error));
    assert.equal(error.code, code, error.message);
    assert.notEqual(error.message, "");
    return true;
  });
}

function assertOverloaded(error: unknown): true {
  assert.ok(isServiceError(error, "overloaded"), String(error));
  assert.ok(error.retryAfterMs !== undefined && error.retryAfterMs > 0, "retryAfterMs must be positive");
  return true;
}
