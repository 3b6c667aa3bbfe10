/** @import { RequestListener } from "node:http" */

/**
 * The options of a server. Each uses those that it needs.
 * @typedef {object} ServerOptions
 * @property {string} [directory] An existing directory of its own, or the one whose files it serves.
 * @property {string} [file] Path of the file that it serves.
 * @property {Record<string, string>} [headers] Headers that it sends with it.
 * @property {number} [maxUploadBytes] Largest file that it accepts. Absent: its own default.
 * @property {boolean} [waits] Whether each upload is answered only once it is processed. Default: false.
 * @property {{ redis?: string, postgres?: string }} [records] URL of the store of Outrigger's records. Absent: `directory`.
 */

/** @typedef {{ listener: RequestListener, close?: () => Promise<void> }} Mounted */

/**
 * @param {ServerOptions} options
 * @param {"directory" | "file"} name
 */
export function required(options, name) {
  const value = options[name];
  if (value === undefined) throw new TypeError(`This server needs the option ${name}`);
  return value;
}
