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

/** Like {@link faulty}, for a store without its optional abilities. */
export function faultyStore(store: BlobStore, fault: Fault, only?: readonly (keyof BlobStore)[]): BlobStore {
  const bare: BlobStore = {
    put: (key, body, options) => store.put(key, body, options),
    get: (key, options) => store.get(key, options),
    stat: (key) => store.stat(key),
    delete: (key) => store.delete(key),
    list: (prefix, options) => store.list(prefix, options),
    close: () => store.close(),
  };
  return faulty(bare, fault, only);
}

/** Like {@link faulty}, for synchronous methods. */
export function throwing<T extends object>(part: T, fault: Fault, only: readonly (keyof T)[]): T {
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || !only.some((each) => each === name)) return value;
      return (...args: unknown[]) => {
        if (fault.error !== null) throw fault.error;
        return Reflect.apply(value, target, args);
      };
    },
  });
}
