/**
 * `null` for a text that is no URL. Sources use it instead of `URL.canParse`, which in Node 20 and 22 refuses letters such as `ü` once
 * its caller is optimised.
 */
export function parsedUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null; // The only error is that of a text that is no URL, which it quotes.
  }
}
