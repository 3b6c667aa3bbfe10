import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, headerOf } from "./answer.ts";
import { type MountCheck, pathOf } from "./mount-check.ts";

const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";
/** Clocks are whole seconds, and no two are the same. */
const SLACK_SECONDS = 60;

/** Whether what keeps pictures from doing harm arrives: with somebody's SVG it is all there is. */
export const checkSafetyHeaders: MountCheck = async (visit, image) => {
  const answer = await visit.send(pathOf(image, "png"));
  const expected = {
    "Content-Security-Policy": PICTURE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "cross-origin",
  };
  const changed = Object.entries(expected).filter(([name, value]) => headerOf(answer, name) !== value);
  const safety =
    changed.length === 0
      ? ok("safety headers", "arrive")
      : problem(
          "safety headers",
          `${changed.map(([name]) => name).join(" and ")} of pictures arrive changed, or not at all`,
          "Have whatever is in front (helmet, add_header) leave them as they are below the mount point",
        );
  return [safety, cachingFinding(answer)];
};

/** How long caches may keep a picture is never longer than it lives. */
function cachingFinding(answer: Answer): Finding {
  const caching = headerOf(answer, "cache-control") ?? "";
  const sunsetMs = Date.parse(headerOf(answer, "sunset") ?? "");
  const lifeSeconds = (sunsetMs - Date.parse(headerOf(answer, "date") ?? "")) / 1000;
  const maxAge = Number(/\bmax-age=(\d+)/.exec(caching)?.[1] ?? Number.NaN);
  const isLonger = maxAge > lifeSeconds + SLACK_SECONDS;
  if (!isLonger && /\bmust-revalidate\b/.test(caching)) return ok("Cache-Control", caching);
  if (/\bno-(?:store|cache)\b/.test(caching)) return ok("Cache-Control", caching);
  return warning(
    "Cache-Control",
    `of pictures arrives as ${caching === "" ? "nothing" : caching}, so that caches may keep what was deleted`,
    "Have whatever is in front leave it as it is (nginx: no expires), and set cacheSeconds",
  );
}
