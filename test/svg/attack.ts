/** An SVG that tries something, and what it tries. */
export interface Attack {
  title: string;
  svg: string | Buffer;
  /**
   * What Chromium does when the file is opened as it is and clicked in the middle: runs its script, or asks a server for
   * something. Absent where this browser is not the one that falls for it, or not without more ado.
   */
  does?: "run" | "request";
}

/** What the attacks have at hand. */
export interface Means {
  /** Script that shows that it ran. Fit for an attribute in double quotes. */
  script: string;
  /** Address of a server that must get no request, without a trailing slash. */
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
