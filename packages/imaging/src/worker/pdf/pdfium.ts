import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { init, type WrappedPdfiumModule } from "@embedpdf/pdfium";
import { isServiceError } from "@outrigger/core/values";
import { damaged, unreadable } from "../picture.ts";
import { offerMachineFonts } from "./substitute-fonts.ts";

/**
 * PDFium's public functions (headers `fpdf*.h`) and the memory that their pointers refer to. Documents, pages, bitmaps
 * and forms are handles: numbers, 0 for none.
 */
export type Pdfium = Omit<WrappedPdfiumModule, "pdfium"> & { pdfium: Runtime };

/** Additions of Emscripten. */
interface Runtime {
  /** The memory. The view changes when the memory grows, so read this property again after every call. */
  readonly HEAPU8: Uint8Array;
  readonly wasmExports: { malloc(bytes: number): number; free(pointer: number): void };
  addFunction(callback: (...values: number[]) => number, signature: string): number;
  removeFunction(pointer: number): void;
}

interface Instance {
  pdfium: Pdfium;
  /** Whether an allocation has failed. PDFium then silently omits parts of a page. */
  isStarved(): boolean;
}

/**
 * Bytes that an instance may hold; up to a fifth more is reserved but not used. A page of text takes 18 MB, a scan of
 * 35 megapixels 84 MB. A worker of 512 MB has room for it, the file and the pixels.
 */
export const MAX_HEAP_BYTES = 256 * 1024 ** 2;
/** Bytes above which an instance is discarded, because its memory never shrinks. Usual pages leave 20 to 60 MB. */
const MAX_RESTING_HEAP_BYTES = 128 * 1024 ** 2;

let compiled: Promise<WasmModule> | undefined;
let resting: Instance | undefined;

/**
 * Calls `use` with an instance of PDFium, loaded at the first call. `use` is synchronous, so it has the
 * instance to itself. A failure inside PDFium becomes `unsupported_media`, and its instance is discarded.
 */
export async function usePdfium<Result>(use: (pdfium: Pdfium) => Result): Promise<Result> {
  const instance = resting ?? (await startInstance());
  resting = undefined;
  let result: Result;
  try {
    result = use(instance.pdfium);
  } catch (error) {
    if (instance.isStarved()) throw starved(error);
    // PDFium crashed: later results of this instance may be wrong.
    if (!isServiceError(error)) throw damaged(undefined, error);
    keep(instance);
    throw error;
  }
  if (instance.isStarved()) throw starved();
  keep(instance);
  return result;
}

/**
 * Calls `use`, then `release` to free what `use` allocated. After a crash of PDFium `release` is skipped: the instance
 * is discarded and must not be called again.
 */
export function releasing<Result>(use: () => Result, release: () => void): Result {
  let result: Result;
  try {
    result = use();
  } catch (error) {
    if (isServiceError(error)) release();
    throw error;
  }
  release();
  return result;
}

function keep(instance: Instance): void {
  if (instance.pdfium.pdfium.HEAPU8.length <= MAX_RESTING_HEAP_BYTES) resting = instance;
}

function starved(cause?: unknown) {
  return unreadable("application/pdf", "it needs too much memory", cause);
}

async function startInstance(): Promise<Instance> {
  compiled ??= compile();
  const module = await compiled;
  let isStarved = false;
  const options = {
    print: () => {},
    printErr: () => {},
    instantiateWasm(imports: EmscriptenImports, receive: (instance: WasmInstance) => void) {
      const grow = imports.env.emscripten_resize_heap;
      imports.env.emscripten_resize_heap = (bytes) => {
        // A size over 2 GB arrives as a negative number.
        const grown = bytes >>> 0 <= MAX_HEAP_BYTES && grow(bytes);
        if (!grown) isStarved = true;
        return grown;
      };
      const instance = new webAssembly.Instance(module, imports);
      receive(instance);
      return instance.exports;
    },
  };
  // Its types depend on @types/emscripten, which is for browsers. `Runtime` declares the used part.
  const pdfium = (await init(options)) as unknown as Pdfium;
  pdfium.PDFiumExt_Init();
  offerMachineFonts(pdfium);
  return { pdfium, isStarved: () => isStarved };
}

/** The used part of the imports that Emscripten passes to the module. */
interface EmscriptenImports {
  env: { emscripten_resize_heap(bytes: number): boolean };
}

async function compile(): Promise<WasmModule> {
  const path = createRequire(import.meta.url).resolve("@embedpdf/pdfium/pdfium.wasm");
  return webAssembly.compile(await readFile(path));
}

/** A compiled module, which can have any number of instances. */
interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

/** An instance of a module, with its own memory. */
interface WasmInstance {
  readonly exports: object;
}

interface WebAssemblyInterface {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  Instance: new (module: WasmModule, imports: object) => WasmInstance;
}

/**
 * The used part of the global `WebAssembly`, which Node's types do not declare.
 *
 * Source: WebAssembly JavaScript Interface, section 5.
 */
export const { WebAssembly: webAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyInterface };

/** Allocates `bytes` bytes of PDFium's memory while `use` runs. */
export function useMemory<Result>(
  { pdfium: { wasmExports } }: Pdfium,
  bytes: number,
  use: (pointer: number) => Result,
): Result {
  const pointer = wasmExports.malloc(bytes);
  if (pointer === 0) throw unreadable("application/pdf", "it needs too much memory");
  return releasing(
    () => use(pointer),
    () => wasmExports.free(pointer),
  );
}

/** Reads the 32-bit floats that `write` stores at a pointer; `null` when `write` returns that it stored none. */
export function readFloats(
  pdfium: Pdfium,
  count: number,
  write: (pointer: number) => boolean,
): number[] | null {
  return useMemory(pdfium, count * 4, (pointer) => {
    if (!write(pointer)) return null;
    return [...new Float32Array(pdfium.pdfium.HEAPU8.buffer, pointer, count)];
  });
}
