const LOCAL = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});

/** A date in the reader's time zone, in the server's format. */
export function localText(ms: number): string {
  return LOCAL.format(ms);
}

/** Shows every date in the reader's time zone; its title has UTC. */
export function showLocalTimes(): void {
  for (const time of document.querySelectorAll("time")) {
    const ms = Date.parse(time.dateTime);
    if (Number.isNaN(ms)) continue;
    time.title = time.textContent ?? "";
    time.textContent = localText(ms);
  }
}
