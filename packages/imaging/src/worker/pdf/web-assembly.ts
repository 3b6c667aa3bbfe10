/** A compiled module, of which any number of instances can be made. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

/** A module with memory of its own. */
export interface WasmInstance {
  readonly exports: object;
}

interface WebAssemblyInterface {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  Instance: new (module: WasmModule, imports: object) => WasmInstance;
}

/**
 * What we use of the global `WebAssembly`, which the types of Node do not declare.
 *
 * Source: WebAssembly JavaScript Interface, section 5.
 */
export const { WebAssembly: webAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyInterface };
