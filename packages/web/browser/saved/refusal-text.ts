/** Why a request got no reply, for the reader. */
export const UNREACHABLE = "The server cannot be reached. Check your connection and try again.";

/** Why a successful reply cannot be used: a proxy sent it, or the login page of a network. */
export const STRANGE_REPLY =
  "The reply did not come from the image service. Check whether this network needs a login.";

/** Why the service refused a request, for the reader. Reads the body. */
export async function refusalText(response: Response): Promise<string> {
  const seconds = Number(response.headers.get("Retry-After"));
  const later = seconds > 0 ? ` Try again in ${seconds} s.` : "";
  if (response.status === 429) return `Too many requests.${later || " Try again in a moment."}`;
  const { detail } = await readObject(response);
  if (typeof detail === "string") return `The server says: “${detail.replace(/\.$/, "")}.”${later}`;
  return "Something went wrong on the server. Try again later.";
}

/** The JSON object in a reply; empty for any other body. */
export async function readObject(response: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}
