/** An SVG that attempts an attack, and the attempted effect. */
export interface Attack {
  title: string;
  svg: string | Buffer;
  /**
   * The effect in Chromium when the unprotected file is opened and clicked in the middle: a script runs, or a request
   * is sent. Absent if this browser is immune, or needs more interaction.
   */
  does?: "run" | "request";
}

/** An attack as a line of a table. */
export type AttackRow = readonly [title: string, svg: string | Buffer, does?: "run" | "request"];

/** The building blocks of the attacks. */
export interface Means {
  /** Script that shows that it ran. Fits an attribute in double quotes. */
  script: string;
  /** Address of a server that must receive no request, without a trailing slash. */
  elsewhere: string;
}

export const NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
export const XHTML = 'xmlns="http://www.w3.org/1999/xhtml"';

/** A drawing of 100 by 100. */
export function svg(content: string, attributes = "", prolog = ""): string {
  return `${prolog}<svg ${NAMES} width="100" height="100" ${attributes}>${content}</svg>`;
}

/** A square that fills it. */
export const SQUARE = '<rect width="100" height="100" fill="#cde"/>';

export function dataUri(type: string, content: string | Buffer): string {
  return `data:${type};base64,${Buffer.from(content).toString("base64")}`;
}
