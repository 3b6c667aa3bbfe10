/**
 * An object with all members of `target`, including its optional abilities, in which `changes` replaces the
 * members it names. Methods are looked up once, now; other properties are read from `target` on every access.
 */
export function overlay<T extends object>(target: T, changes: object): T {
  const layer = { ...changes };
  let owner: object | null = target;
  while (owner !== null && owner !== Object.prototype) {
    for (const name of Reflect.ownKeys(owner)) {
      if (Object.hasOwn(layer, name)) continue;
      const method: unknown = Reflect.getOwnPropertyDescriptor(owner, name)?.value;
      Object.defineProperty(layer, name, {
        enumerable: true,
        ...(typeof method === "function"
          ? { value: method.bind(target) }
          : { get: () => Reflect.get(target, name) }),
      });
    }
    owner = Object.getPrototypeOf(owner);
  }
  // The loop has just assigned every property of `target`, which TypeScript cannot infer.
  return layer as T;
}
