const HIDDEN_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?:px|em|rem|%)?\s*(?:;|!|$)|opacity\s*:\s*0?\.?0+\s*(?:;|!|$)|(?:left|top|text-indent)\s*:\s*-\d{4,})/i;

/** Which elements a page hides: by attributes, by styles, and by rules for a class or an ID. */
export class HiddenElements {
  readonly #names = new Set<string>();

  hides(attributes: ReadonlyMap<string, string>): boolean {
    const hidden = attributes.get("hidden");
    const names = `${attributes.get("class") ?? ""} #${attributes.get("id") ?? ""}`;
    return (
      (hidden !== undefined && hidden.toLowerCase() !== "until-found") ||
      attributes.get("aria-hidden")?.toLowerCase() === "true" ||
      HIDDEN_STYLE.test(attributes.get("style") ?? "") ||
      (this.#names.size > 0 && names.split(/\s+/).some((name) => this.#names.has(name)))
    );
  }

  /** Classes and IDs that a rule of the page hides; rules within `@media` do not count. */
  readStyle(css: string): void {
    let depth = 0;
    let selectors = "";
    for (const piece of css.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, "").match(/[^{}]*(?:[{}]|$)/g) ?? []) {
      if (piece.endsWith("{")) {
        if (depth === 0) selectors = piece.slice(0, -1);
        depth += 1;
        continue;
      }
      depth = Math.max(0, depth - 1);
      if (depth > 0 || !HIDDEN_STYLE.test(piece.slice(0, -1))) continue;
      for (const selector of selectors.split(",")) {
        const [, sign, name = ""] = /^\s*(?:[a-z]+)?([.#])([\w-]+)\s*$/i.exec(selector) ?? [];
        if (sign !== undefined) this.#names.add(sign === "#" ? `#${name}` : name);
      }
    }
  }
}
