import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type {
  Admission,
  AdmitOptions,
  OriginalType,
  Renderer,
  RenderSource,
} from "../src/contracts/renderer.ts";
import { ServiceError } from "../src/errors.ts";

/** What a picture is found to be, unless a test says otherwise. */
export const PLAIN: Admission = { width: 40, height: 30, pages: 1, cleaned: null };

/** One call of `admit`, under the test's control. */
export interface Admitting {
  source: RenderSource;
  type: OriginalType;
  options: AdmitOptions;
  signal: AbortSignal | undefined;
  accept(admission?: Admission): void;
  refuse(error: unknown): void;
}

/** A renderer that takes as long as the test wants. */
export interface FakeRenderer extends Renderer {
  /** Calls that nobody has answered yet. */
  readonly pending: Admitting[];
  /** How often `admit` was called. */
  readonly calls: number;
  /** Answers every further call by itself; `null`: the test does. */
  answer: ((admitting: Admitting) => void) | null;
  /** The next call that comes, or the oldest that is pending. Each is given once. */
  next(): Promise<Admitting>;
}

/** A real renderer cannot be made to hang, to be overloaded, or to die at a point of the test's choice. */
export function createFakeRenderer(answer: FakeRenderer["answer"] = null): FakeRenderer {
  const pending: Admitting[] = [];
  const given = new Set<Admitting>();
  let arrived: (() => void) | undefined;
  let calls = 0;
  const renderer: FakeRenderer = {
    build: "fake.1",
    look: () => 1,
    measure: () => null,
    pending,
    get calls() {
      return calls;
    },
    answer,
    canRender: () => false,
    render: () => Promise.reject(new ServiceError("not_implemented", "Nothing is rendered here.")),
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
        // As a renderer does with what still waits in its queue.
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
      for (const { refuse } of [...pending])
        refuse(new ServiceError("overloaded", "The renderer is closed."));
    },
  };
  return renderer;
}

/** Accepts at once. */
export function acceptAll(admitting: Admitting): void {
  admitting.accept();
}

/** Writes a cleaned copy, as a renderer does, and gives its admission. */
export async function cleanedTo({ options }: Admitting, bytes: Buffer): Promise<Admission> {
  await writeFile(options.cleanedPath, bytes, { flag: "wx" });
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { ...PLAIN, cleaned: { size: bytes.length, sha256 } };
}
