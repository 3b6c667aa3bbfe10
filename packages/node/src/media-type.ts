export interface MediaType {
  /** `type/subtype`, lower case. */
  essence: string;
  /** Parameters by lower-case name; the first value of a repeated name. */
  parameters: ReadonlyMap<string, string>;
}

const ESSENCE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/;
const PARAMETER = /;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*/y;

/**
 * Parses a Content-Type (RFC 9110 §8.3.1).
 *
 * @returns `null` without a header; an empty essence if the header is malformed.
 */
export function parseMediaType(header: string | undefined): MediaType | null {
  if (header === undefined) return null;
  const end = header.indexOf(";");
  const essence = (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
  const parameters = new Map<string, string>();
  if (!ESSENCE.test(essence)) return { essence: "", parameters };
  PARAMETER.lastIndex = end;
  while (end !== -1 && PARAMETER.lastIndex < header.length) {
    const match = PARAMETER.exec(header);
    if (match === null) return { essence: "", parameters };
    const name = match[1]?.toLowerCase();
    const value = match[2] ?? match[3]?.replace(/\\(.)/g, "$1");
    if (name !== undefined && value !== undefined && !parameters.has(name)) parameters.set(name, value);
  }
  return { essence, parameters };
}
