import type { MessageLog } from "../store/message-log.ts";

/** Says what happens to people who hear the page. */
export function MessageRegion({ log }: { log: MessageLog }) {
  return (
    <div class="unseen" role="log" aria-label="What happened">
      {log.messages.value.map(({ number, text }) => (
        <p key={number}>{text}</p>
      ))}
    </div>
  );
}
