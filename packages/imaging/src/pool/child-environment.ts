/** What fonts, temporary files, the dynamic loader and Windows need. The host's secrets are none of it. */
const kept = /^(?:HOME|PATH|LANG|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|SYSTEMROOT|(?:FONTCONFIG|XDG|LC)_.*)$/i;

/** The environment of a worker: the little of the host's that it needs, and nothing else. */
export function childEnvironment(host: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(host)) {
    if (kept.test(name)) environment[name] = value;
  }
  // glibc otherwise gives every thread an arena of its own, and what a picture took is hardly ever given back.
  environment.MALLOC_ARENA_MAX = "2";
  return environment;
}
