/** Our product token in robots.txt, `X-Robots-Tag` and `<meta>`. */
export const ROBOT = "outrigger";

/** Whether a page may not be stored, and its links not be followed. @param tags Each `X-Robots-Tag`, or `<meta>` of robots. */
export function readRobotsTag(tags: readonly string[]): { noIndex: boolean; noFollow: boolean } {
  const directives = new Set<string>();
  for (const tag of tags) {
    let isOurs = true;
    const plain = tag.toLowerCase().replace(/\s+/g, " ").replace(/ ?: ?/g, ":");
    for (const part of plain.split(/[, ]/)) {
      // A value, as in `max-snippet: 5`, is no name of a robot.
      const [, agent, rest] = /^(?!max-|unavailable_after)([a-z][\w-]*):(.*)$/.exec(part) ?? [];
      if (agent !== undefined) isOurs = agent === ROBOT || agent === "robots";
      if (isOurs) directives.add(rest ?? part);
    }
  }
  const has = (...names: string[]) => names.some((name) => directives.has(name));
  return { noIndex: has("noindex", "noarchive", "none"), noFollow: has("nofollow", "none") };
}
