/** `inner` with some methods of its own for a test, `undefined` for none. The others work on `inner`, which stays as it is. */
export function withMethods<T extends object>(inner: T, own: { [Name in keyof T]?: T[Name] | undefined }): T {
  return new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(name in own ? own : target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
