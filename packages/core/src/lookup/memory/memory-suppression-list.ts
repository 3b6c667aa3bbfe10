import type { SuppressionList } from "../../contracts/suppression-list.ts";
import { ServiceError } from "../../errors.ts";

/** A list in this process's memory, for tests and trials. */
export function createMemorySuppressionList(): SuppressionList {
  const listed = new Set<string>();
  let isClosed = false;

  function mustBeOpen(): void {
    if (isClosed) throw new ServiceError("store_unavailable", "The suppression list is closed");
  }

  return {
    async add(tokens) {
      mustBeOpen();
      for (const token of tokens) listed.add(token);
    },
    async claim(token, others) {
      mustBeOpen();
      if (listed.has(token)) return false;
      for (const each of [token, ...others]) listed.add(each);
      return true;
    },
    async remove(tokens) {
      mustBeOpen();
      return tokens.filter((token) => listed.delete(token)).length;
    },
    async present(tokens) {
      mustBeOpen();
      return new Set(tokens.filter((token) => listed.has(token)));
    },
    async count() {
      mustBeOpen();
      return listed.size;
    },
    async close() {
      isClosed = true;
    },
  };
}
