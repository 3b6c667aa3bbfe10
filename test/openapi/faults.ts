import type { BlobStore } from "@outrigger/core/stores";

/** The error that calls fail with, while set. */
export interface Fault {
  error: Error | null;
}

/** A part whose methods all fail while the fault has an error; `only` restricts this to the named methods. */
export function faulty<T extends object>(part: T, fault: Fault, only?: readonly (keyof T)[]): T {
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const isMeant = only === undefined || only.some((each) => each === name);
        if (fault.error !== null && isMeant && name !== "close") return Promise.reject(fault.error);
        return Reflect.apply(value, target, args);
      };
    },
  });
}

/** A store without its optional abilities. */
export function bareStore(store: BlobStore): BlobStore {
  const { put, get, stat, list, close } = store;
  return { put, get, stat, delete: store.delete, list, close };
}
