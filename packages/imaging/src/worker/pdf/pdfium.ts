import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { init, type WrappedPdfiumModule } from "@embedpdf/pdfium";
import { isServiceError } from "@outrigger/core";
import { unreadable } from "../unreadable.ts";

/**
 * PDFium's public functions (its headers `fpdf*.h`), and the memory that their pointers point into. Documents, pages,
 * bitmaps and forms are handles: numbers, 0 where there is none.
 */
export type Pdfium = Omit<WrappedPdfiumModule, "pdfium"> & { pdfium: Runtime };

/** Additions of Emscripten. */
interface Runtime {
  /** Another view after the memory has grown: to be read anew after every call. */
  readonly HEAPU8: Uint8Array;
  readonly wasmExports: { malloc(bytes: number): number; free(pointer: number): void };
  addFunction(callback: (...values: number[]) => number, signature: string): number;
  removeFunction(pointer: number): void;
}

interface Instance {
  pdfium: Pdfium;
  /** Whether it has been refused memory: PDFium leaves out of a page what it has no room for, without a word. */
  isStarved(): boolean;
}

/**
 * Bytes that an instance may hold; up to a fifth more is reserved, but not touched. A page of text takes 18 MB, a scanned
 * one of 35 megapixels 84 MB. A worker of 512 MB has room for it, for the file and for the pixels.
 */
export const MAX_HEAP_BYTES = 256 * 1024 ** 2;
/** Bytes over which an instance is not kept: its memory never shrinks. Usual pages leave 20 to 60 MB. */
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
    // A crash: whatever the instance is asked from here on may be answered wrongly.
    if (!isServiceError(error)) throw unreadable("application/pdf", "it makes the PDF reader fail", error);
    keep(instance);
    throw error;
  }
  if (instance.isStarved()) throw starved();
  keep(instance);
  return result;
}

/**
 * Calls `use`, then `release`, which gives back what `use` needed; after a crash of PDFium it is gone with the instance,
 * which must not be called again.
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
        // Over 2 GB it comes as a negative number.
        const grown = bytes >>> 0 <= MAX_HEAP_BYTES && grow(bytes);
        if (!grown) isStarved = true;
        return grown;
      };
      const instance = new webAssembly.Instance(module, imports);
      receive(instance);
      return instance.exports;
    },
  };
  // Its types lean on @types/emscripten, which is for browsers; `Runtime` says what of it we use.
  const pdfium = (await init(options)) as unknown as Pdfium;
  pdfium.PDFiumExt_Init();
  return { pdfium, isStarved: () => isStarved };
}

/** The imports that Emscripten gives to the module, as far as we use them. */
interface EmscriptenImports {
  env: { emscripten_resize_heap(bytes: number): boolean };
}

async function compile(): Promise<WasmModule> {
  const path = createRequire(import.meta.url).resolve("@embedpdf/pdfium/pdfium.wasm");
  return webAssembly.compile(await readFile(path));
}

/** A compiled module, of which any number of instances can be made. */
interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

/** A module with memory of its own. */
interface WasmInstance {
  readonly exports: object;
}

interface WebAssemblyInterface {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  Instance: new (module: WasmModule, imports: object) => WasmInstance;
}

/**
 * The part of the global `WebAssembly` that we use; the types of Node do not declare it.
 *
 * Source: WebAssembly JavaScript Interface, section 5.
 */
export const { WebAssembly: webAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyInterface };
