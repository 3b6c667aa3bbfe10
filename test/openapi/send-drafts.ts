import { faultsOf, isHostsAnswer } from "./check-answer.ts";
import type { Draft, SubjectState } from "./drafts.ts";
import type { Sent } from "./sender.ts";
import type { ApiSite } from "./sites.ts";
import { deletedImage, readyImage, type Subject, withheldImage } from "./subjects.ts";
import { writeCall } from "./write-call.ts";

/** Sends calls and reports faults of the answers. */
export interface DraftSender {
  send(draft: Draft): Promise<string[]>;
  /** Number of answers per status. */
  counts: Map<number, number>;
}

export async function createDraftSender(site: ApiSite): Promise<DraftSender> {
  const ready = await readyImage(site);
  const lasting: Record<Exclude<SubjectState, "ready">, Subject> = {
    deleted: await deletedImage(site),
    withheld: await withheldImage(site),
    unknown: { ...ready, id: "A".repeat(22) },
    malformed: { ...ready, id: "../no id" },
  };
  const counts = new Map<number, number>();

  async function subjectOf({ state, described: { method, path } }: Draft): Promise<Subject> {
    if (state !== "ready") return lasting[state];
    const changes = method !== "GET" && method !== "HEAD" && path.includes("{id}");
    return changes ? readyImage(site) : ready;
  }

  return {
    counts,
    async send(draft) {
      const sent = writeCall(draft, await subjectOf(draft), site.made.key);
      const answer = await site.send(sent);
      counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
      // Requests outside the mount point are answered by the host app.
      if (isHostsAnswer(answer) && draft.state !== "ready") return [];
      const faults = faultsOf(site.document, site.schemas, draft.described, answer);
      return faults.map((fault) => `${textOf(sent)}: ${fault}`);
    },
  };
}

function textOf({ method, target, headers, body }: Sent): string {
  const text = `${method} ${target} ${JSON.stringify(headers)} ${String(body ?? "")}`;
  return text.length > 900 ? `${text.slice(0, 900)}…` : text;
}
