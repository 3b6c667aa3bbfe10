import type { ImageAddress } from "../images/image-address.ts";

/** An address with its variable parts named, so that there are as many routes as kinds of address and formats. */
export function routeOf(address: ImageAddress): string {
  switch (address.kind) {
    case "collection":
      return `/api/images.${address.suffix}`;
    case "record":
      return "/api/images/{id}.json";
    case "bytes":
      return `/api/images/{id}.${address.format}`;
    case "landing":
      return "/{id}";
    case "viewer":
      return "/{id}/view";
    case "editor":
      return "/{id}/edit";
    case "nothing":
    case "unknown_format":
      return "/api/images/*";
  }
}
