import { ConfigError } from "./config-error.ts";

/**
 * Where images are kept, as it is typed or stands in the environment: a URL as it is, or the object of several.
 * @param source What the text comes from, and `name` what it is called there, for the message.
 * @throws ConfigError
 */
export function readStorageText(text: string, source: string, name: string): unknown {
  if (!text.startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says quotes the text, and with it a password.
    throw new ConfigError(source, [
      `${name}: must be a URL, or JSON: {"records": "redis://…", "originals": "file:./data", "renditions": "memory:"}`,
    ]);
  }
}
