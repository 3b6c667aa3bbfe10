import type { Attribute } from "./clean-attribute.ts";

/** An element of a document, as it is drawn. */
interface Drawn {
  /** Elements that it draws by itself: one, and those of an embedded document. */
  own: number;
  /** Elements in it. */
  content: Drawn[];
  /** The `id` of the element that it draws as well. */
  used?: string;
  /** All elements that are drawn with it, once counted. */
  total?: number;
}

/** Counts the elements that a document draws, where `use` and embedded documents repeat them. */
export class DrawnElements {
  readonly #open: Drawn[] = [];
  readonly #byId = new Map<string, Drawn>();
  #root: Drawn | undefined;
  #embedded = 0;
  #hasEmbedded = false;

  /** Whether a document is embedded. */
  get hasEmbedded(): boolean {
    return this.#hasEmbedded;
  }

  /** Adds the elements of an embedded document to the next element opened. */
  embed(elements: number): void {
    this.#embedded += elements;
    this.#hasEmbedded = true;
  }

  open(name: string, attributes: readonly Attribute[]): void {
    const drawn: Drawn = { own: 1 + this.#embedded, content: [] };
    this.#embedded = 0;
    for (const { name: attribute, value } of attributes) {
      if (attribute === "id" && !this.#byId.has(value)) this.#byId.set(value, drawn);
      if (name === "use" && attribute.endsWith("href") && value.startsWith("#")) drawn.used = value.slice(1);
    }
    this.#open.at(-1)?.content.push(drawn);
    this.#root ??= drawn;
    this.#open.push(drawn);
  }

  close(): void {
    this.#open.pop();
  }

  /** The count; infinite if an element draws itself. */
  total(): number {
    const stack = this.#root === undefined ? [] : [this.#root];
    const begun = new Set<Drawn>();
    for (let drawn = stack.at(-1); drawn !== undefined; drawn = stack.at(-1)) {
      const used = this.#byId.get(drawn.used ?? "");
      const parts = used === undefined ? drawn.content : [...drawn.content, used];
      if (begun.has(drawn)) {
        drawn.total ??= parts.reduce(
          (sum, part) => sum + (part.total ?? Number.POSITIVE_INFINITY),
          drawn.own,
        );
        stack.pop();
      } else {
        begun.add(drawn);
        for (const part of parts) if (!begun.has(part)) stack.push(part);
      }
    }
    return this.#root?.total ?? 0;
  }
}
