import type { TargetedEvent } from "preact";
import { durationText, lifetimeChoices } from "../../../src/time-left.ts";
import { type Lifetime, localDateValue } from "../lifetimes.ts";
import type { Session } from "../session.ts";
import { MAX_NAME_LENGTH } from "../store/next-options.ts";

const UNTIL = "until";
const DAY_MS = 86_400_000;

/** Name and lifetime of the next uploads. */
export function NextOptionsForm({ session: { next, config } }: { session: Session }) {
  const lifetime = next.lifetime.value;

  function choose({ currentTarget }: TargetedEvent<HTMLSelectElement>): void {
    next.lifetime.value =
      currentTarget.value === UNTIL
        ? { kind: "until", atMs: Date.now() + Math.min(DAY_MS, config.maxLifetimeMs) }
        : { kind: "for", ms: Number(currentTarget.value) };
  }

  return (
    <fieldset class="next-options">
      <legend class="unseen">Options for new uploads</legend>
      <label>
        Delete after
        <select value={lifetime.kind === "for" ? String(lifetime.ms) : UNTIL} onChange={choose}>
          {lifetimeChoices(config).map((ms) => (
            <option key={ms} value={String(ms)}>
              {durationText(ms)}
            </option>
          ))}
          <option value={UNTIL}>On a date…</option>
        </select>
      </label>
      {lifetime.kind === "until" && (
        <UntilField
          lifetime={lifetime}
          maxLifetimeMs={config.maxLifetimeMs}
          onChange={(chosen) => {
            next.lifetime.value = chosen;
          }}
        />
      )}
      <label class="name-of-next">
        Name (optional)
        <input
          type="text"
          dir="auto"
          value={next.name.value}
          maxLength={MAX_NAME_LENGTH}
          placeholder="Same as the file name"
          autocomplete="off"
          onInput={({ currentTarget }) => {
            next.name.value = currentTarget.value;
          }}
        />
      </label>
    </fieldset>
  );
}

interface UntilFieldProps {
  lifetime: Extract<Lifetime, { kind: "until" }>;
  maxLifetimeMs: number;
  onChange(lifetime: Lifetime): void;
}

function UntilField({ lifetime, maxLifetimeMs, onChange }: UntilFieldProps) {
  const nowMs = Date.now();
  return (
    <label>
      Delete on
      <input
        type="datetime-local"
        value={localDateValue(lifetime.atMs)}
        min={localDateValue(nowMs + 60_000)}
        max={localDateValue(nowMs + maxLifetimeMs)}
        required
        onChange={({ currentTarget }) => {
          const atMs = new Date(currentTarget.value).getTime();
          if (currentTarget.reportValidity() && !Number.isNaN(atMs)) onChange({ kind: "until", atMs });
        }}
      />
    </label>
  );
}
