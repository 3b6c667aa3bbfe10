/** The part of a description that is changed for the page. */
interface Description {
  servers?: { url: string }[];
  paths: Record<string, Record<string, { parameters?: { name: string; required?: boolean }[] }>>;
}

/** The description of what is mounted at `base`, so that its requests can be tried from this page. */
export async function loadDescription(base: string): Promise<Description> {
  const response = await fetch(`${base}/api/openapi.json`);
  if (!response.ok) throw new Error(`The answer was ${response.status}.`);
  const description: Description = await response.json();
  for (const path of Object.values(description.paths)) {
    for (const { parameters = [] } of Object.values(path)) {
      // The browser sends its own, and lets nobody choose another.
      for (const each of parameters) if (each.name === "User-Agent") each.required = false;
    }
  }
  // Under which name the service was reached does not matter here: what is of another origin could not be tried.
  return { ...description, servers: [{ url: base }] };
}
