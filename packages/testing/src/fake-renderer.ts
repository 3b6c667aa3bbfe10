import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { ServiceError } from "@outrigger/core";
import type {
  Admission,
  AdmitOptions,
  ConvertibleType,
  OriginalType,
  Renderer,
  RenderSource,
} from "@outrigger/core/images";

/** The default admission of a picture. */
export const PLAIN: Admission = { width: 40, height: 30, pages: 1, cleaned: null };

/** One call of `admit` that the test resolves or rejects. */
export interface Admitting {
  source: RenderSource;
  type: OriginalType | ConvertibleType;
  options: AdmitOptions;
  signal: AbortSignal | undefined;
  accept(admission?: Admission): void;
  refuse(error: unknown): void;
}

/** A renderer whose calls settle when the test says. */
export interface FakeRenderer extends Renderer {
  /** Calls that are not settled yet. */
  readonly pending: Admitting[];
  /** Number of `admit` calls. */
  readonly calls: number;
  /** Settles every further call; `null`: the test settles them. */
  answer: ((admitting: Admitting) => void) | null;
  /** The next call, or the oldest pending one. Each call is returned once. */
  next(): Promise<Admitting>;
}

/** A real renderer cannot be made to hang, to be overloaded, or to crash at a point that the test chooses. */
export function createFakeRenderer(answer: FakeRenderer["answer"] = null): FakeRenderer {
  const pending: Admitting[] = [];
  const given = new Set<Admitting>();
  let arrived: (() => void) | undefined;
  let calls = 0;
  const renderer: FakeRenderer = {
    build: "fake.1",
    measure: () => null,
    pending,
    get calls() {
      return calls;
    },
    answer,
    canRender: () => false,
    render: () => Promise.reject(new ServiceError("not_implemented", "This renderer renders nothing")),
    admit(source, type, options, { signal } = {}) {
      calls++;
      return new Promise<Admission>((resolve, reject) => {
        const settle = () => pending.splice(pending.indexOf(admitting), 1);
        const admitting: Admitting = {
          source,
          type,
          options,
          signal,
          accept(admission = PLAIN) {
            settle();
            resolve(admission);
          },
          refuse(error) {
            settle();
            reject(error);
          },
        };
        pending.push(admitting);
        // As a renderer does with calls in its queue.
        signal?.addEventListener("abort", () => admitting.refuse(signal.reason), { once: true });
        if (renderer.answer !== null) renderer.answer(admitting);
        arrived?.();
      });
    },
    async next() {
      for (;;) {
        const admitting = pending.find((each) => !given.has(each));
        if (admitting !== undefined) {
          given.add(admitting);
          return admitting;
        }
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
    },
    async close() {
      for (const { refuse } of [...pending]) refuse(new ServiceError("overloaded", "The renderer is closed"));
    },
  };
  return renderer;
}

/** Accepts at once. */
export function acceptAll(admitting: Admitting): void {
  admitting.accept();
}

/** Writes a cleaned copy as a renderer does, and returns its admission. */
export async function cleanedTo({ options }: Admitting, bytes: Buffer): Promise<Admission> {
  await writeFile(options.cleanedPath, bytes, { flag: "wx" });
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { ...PLAIN, cleaned: { size: bytes.length, sha256 } };
}
