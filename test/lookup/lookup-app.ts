import { type App, type AppName, type AppOptions, startApp } from "./apps.ts";
import { createTestLookup, type TestLookup, type TestLookupOptions } from "./lookup-site.ts";

/** A lookup at `/people` of an app. */
export interface LookupApp extends TestLookup, App {
  /** `http://127.0.0.1:port/people/v2` */
  base: string;
  /** A query with the key, for a known domain. */
  search: string;
}

export async function startLookupApp(
  name: AppName,
  options: TestLookupOptions = {},
  more: Partial<AppOptions> = {},
): Promise<LookupApp> {
  const made = await createTestLookup(options);
  const app = await startApp(name, { services: { "/people": made.lookup }, ...more });
  return {
    ...made,
    ...app,
    base: `${app.origin}/people/v2`,
    search: `api_key=${made.key}&domain=example.com`,
    async close() {
      await app.close();
      await made.lookup.close();
    },
  };
}
