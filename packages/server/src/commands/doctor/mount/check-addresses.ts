import { printable } from "../../../cli/printable.ts";
import { type Finding, ok, problem } from "../finding.ts";
import { describeAnswer } from "./answer.ts";
import type { MountCheck } from "./mount-check.ts";
import { remedies, setPublicUrl } from "./remedies.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import type { MountVisit } from "./visit.ts";

const CHECK = "addresses";

/** Whether the addresses in replies lead back to where the service was asked. */
export const checkAddresses: MountCheck = async (visit, image) => {
  const given = [image.url, image.location, image.urlHeader, image.editUrl, ...image.links];
  const wrong = given.find((address) => address !== undefined && !address.startsWith(`${visit.base}/`));
  if (wrong !== undefined) return [wrongAddress(visit, wrong)];
  if (image.location === undefined) {
    const remedy = "Let the header Location, Link and X-Service-* of replies through";
    return [problem(CHECK, "the reply to a create has no Location", remedy)];
  }
  const answer = await visit.send(image.location.slice(visit.base.length));
  return answer.status === 200 || answer.status === 202
    ? [ok(CHECK, `below ${visit.base}, as asked, and Location answers`)]
    : [problem(CHECK, `Location is answered with ${describeAnswer(answer)}`, remedies.allowMethods)];
};

function wrongAddress({ base }: MountVisit, address: string): Finding {
  const detail = printable(`replies name ${withoutPin(address)}, asked was ${base}`);
  const asked = new URL(base);
  const given = URL.canParse(address) ? new URL(address) : null;
  const isOnlyProtocol = given?.host === asked.host && given.protocol !== asked.protocol;
  const byHost = `${setPublicUrl(base)}, or have the proxy pass Host on (nginx: proxy_set_header Host $host)`;
  return problem(CHECK, detail, isOnlyProtocol ? `${setPublicUrl(base)}. ${remedies.trustProxy}` : byHost);
}

function withoutPin(address: string): string {
  return address.replace(/\?.*$/s, "");
}

/** Whether the service knows what program a client is. */
export function checkAgent(name: string, { agentName }: UploadedImage): Finding {
  if (agentName === name) return ok("User-Agent", "arrives");
  return {
    check: "User-Agent",
    status: "warning",
    detail: printable(`arrives as ${agentName ?? "something unreadable"}`),
    remedy: "Have whatever is in front pass it on: it is shown with every image",
  };
}
