import { ConfigError } from "../../../config/config-error.ts";

/** The address of a mount as it was typed, without a slash at the end. @throws ConfigError where it is none. */
export function parseMountUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError("The command line", [
      "URL: must be an absolute http(s) URL without user, query and fragment, such as https://example.com/img",
    ]);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** Addresses of the same host at which a mount may be instead: those above, and those that people often choose. */
export function otherPlaces(base: string): string[] {
  const { origin, pathname } = new URL(base);
  const segments = pathname.split("/").filter((segment) => segment !== "");
  const above = segments.map((_, index) => `/${segments.slice(0, index).join("/")}`.replace(/\/$/, ""));
  const paths = new Set([...above.reverse(), "", "/img", "/images", "/image", "/i", "/outrigger"]);
  return [...paths].map((path) => origin + path).filter((place) => place !== base);
}
