/**
 * An object with everything that `target` has, its optional abilities included, but with `changes` in the place of what
 * they name. Methods are looked up once, now; other properties are read from `target` whenever they are asked for.
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
  // Every property of `target` has just been given to it, by a loop whose outcome TypeScript cannot tell.
  return layer as T;
}
