import { type HtmlToken, htmlTokens, type StartTag } from "./html-tokens.ts";

/** Tag and attribute names in order: the structure that a browser would build. */
export function skeleton(html: string): string {
  const tags = htmlTokens(html).filter((token) => token.kind !== "text");
  return tags
    .map((tag) => (tag.kind === "end" ? `/${tag.name}` : [tag.name, ...tag.attributes.keys()].join(" ")))
    .join("\n");
}

/** The text between all tags. */
export function textOf(tokens: readonly HtmlToken[]): string {
  return tokens.map((token) => (token.kind === "text" ? token.text : "")).join("");
}

/** The values of all attributes that link to or load a resource. */
export function addressesIn(tokens: readonly HtmlToken[]): string[] {
  const names = ["href", "src", "srcset", "action", "formaction", "poster", "data"];
  const tags = tokens.filter((token): token is StartTag => token.kind === "start");
  return tags.flatMap(({ attributes }) => names.flatMap((name) => attributes.get(name) ?? []));
}

/** The directives of a Content-Security-Policy with their values. */
export function directives(policy: string): Map<string, string[]> {
  return new Map(
    policy.split(";").map((directive) => {
      const [name = "", ...values] = directive.trim().split(/\s+/);
      return [name, values];
    }),
  );
}

/** The text in each element with this name, up to its first child tag. */
export function contentsOf(tokens: readonly HtmlToken[], name: string): string[] {
  return tokens.flatMap((token, index) => {
    const next = tokens[index + 1];
    return token.kind === "start" && token.name === name && next?.kind === "text" ? [next.text] : [];
  });
}

/** The text in the first element with this role, up to its first child tag; `null` if there is none. */
export function contentOfRole(tokens: readonly HtmlToken[], role: string): string | null {
  return contentOfAttribute(tokens, "role", role);
}

/** The text in the element with this ID, up to its first child tag; `null` if there is none. */
export function contentOfId(tokens: readonly HtmlToken[], id: string): string | null {
  return contentOfAttribute(tokens, "id", id);
}

function contentOfAttribute(tokens: readonly HtmlToken[], name: string, value: string): string | null {
  const index = tokens.findIndex((token) => token.kind === "start" && token.attributes.get(name) === value);
  const next = tokens[index + 1];
  return index !== -1 && next?.kind === "text" ? next.text : null;
}

/** The forms, with the attributes of their controls by name. */
export function forms(
  tokens: readonly HtmlToken[],
): { tag: StartTag; fields: Map<string, ReadonlyMap<string, string>> }[] {
  return tokens.flatMap((tag, index) => {
    if (tag.kind !== "start" || tag.name !== "form") return [];
    const end = tokens.findIndex((token, at) => at > index && token.kind === "end" && token.name === "form");
    const controls = tokens.slice(index, end).filter((token): token is StartTag => token.kind === "start");
    const named = controls.flatMap(({ attributes }) => {
      const name = attributes.get("name");
      return name === undefined ? [] : [[name, attributes] as const];
    });
    return [{ tag, fields: new Map(named) }];
  });
}
