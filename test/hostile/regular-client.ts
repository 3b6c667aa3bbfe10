import { setTimeout as delay } from "node:timers/promises";
import type { Site } from "../support/service.ts";

/** The results of a well-behaved client while others misbehave. */
export interface Experience {
  requests: number;
  /** Failures, in words; must be empty. */
  complaints: string[];
}

const BETWEEN_MS = 20;

/** Requests a picture and the host's own page, by turns, until stopped. */
export function startRegularClient(
  site: Site,
  picture: { url: string; bytes: Buffer },
): { stop(): Promise<Experience> } {
  const experience: Experience = { requests: 0, complaints: [] };
  const stopping = new AbortController();

  const complain = (error: unknown) => {
    experience.complaints.push(String(error));
  };
  const ask = async (url: string, expected: Buffer) => {
    const response = await fetch(url);
    const bytes = Buffer.from(await response.arrayBuffer());
    experience.requests++;
    if (response.status !== 200) experience.complaints.push(`${url}: ${response.status}`);
    else if (!bytes.equals(expected)) experience.complaints.push(`${url}: other bytes`);
  };
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await ask(picture.url, picture.bytes).catch(complain);
      await ask(`${site.origin}/host`, Buffer.from("the host's own")).catch(complain);
      await delay(BETWEEN_MS);
    }
  })();

  return {
    async stop() {
      stopping.abort();
      await running;
      return experience;
    },
  };
}
