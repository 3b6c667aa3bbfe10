import type { TargetedEvent } from "preact";
import { dateText, t } from "../../../src/texts.ts";
import { durationText, lifetimeChoices } from "../../../src/time-left.ts";
import { serverNow } from "../../saved/server-clock.ts";
import type { Session } from "../session.ts";
import { latestExpiry, localDateValue, MAX_NAME_LENGTH } from "../store/next-options.ts";

const UNTIL = "until";
const DAY_MS = 86_400_000;
const FAULT_ID = "date-fault";

/** Name and lifetime of the next uploads. */
export function NextOptionsForm({ session }: { session: Session }) {
  const { next, config } = session;
  const lifetime = next.lifetime.value;
  const { name, expiresAt } = session.ticket.state.value.terms ?? {};

  function choose({ currentTarget }: TargetedEvent<HTMLSelectElement>): void {
    next.lifetime.value =
      currentTarget.value === UNTIL
        ? { kind: "until", text: localDateValue(serverNow() + Math.min(DAY_MS, config.maxLifetimeMs / 2)) }
        : { kind: "for", ms: Number(currentTarget.value) };
  }

  return (
    <fieldset class="next-options">
      <legend class="unseen">{t("uploads.options")}</legend>
      {expiresAt ? (
        <p>{expiryText(expiresAt)}</p>
      ) : (
        <label>
          {t("uploads.deleteAfter")}
          <select value={lifetime.kind === "for" ? String(lifetime.ms) : UNTIL} onChange={choose}>
            {lifetimeChoices(config).map((ms) => (
              <option key={ms} value={String(ms)}>
                {durationText(ms)}
              </option>
            ))}
            <option value={UNTIL}>{t("uploads.onDate")}</option>
          </select>
        </label>
      )}
      {!expiresAt && lifetime.kind === "until" && <UntilField session={session} text={lifetime.text} />}
      {name ? (
        <p>{t("uploads.fixedName", { name })}</p>
      ) : (
        <label class="name-of-next">
          {t("uploads.name")}
          <input
            type="text"
            dir="auto"
            value={next.name.value}
            maxLength={MAX_NAME_LENGTH}
            placeholder={t("uploads.namePlaceholder")}
            autocomplete="off"
            onInput={({ currentTarget }) => {
              next.name.value = currentTarget.value;
            }}
          />
        </label>
      )}
    </fieldset>
  );
}

/** The expiry that a ticket fixes. */
function expiryText(expiresAt: string): string {
  if (expiresAt === "never") return t("uploads.keptForever");
  return t("uploads.keptUntil", { date: dateText(Date.parse(expiresAt)) });
}

/** The date on which the next uploads expire. A wrong one stays in the field, beside its fault, and new files wait. */
function UntilField({ session, text }: { session: Session; text: string }) {
  const { next, config } = session;
  const nowMs = serverNow();
  const latestMs = latestExpiry(nowMs, config.maxLifetimeMs);
  const fault = next.fault();
  const waiting = next.waiting.value;
  return (
    <>
      <label>
        {t("uploads.deleteOn")}
        <input
          type="datetime-local"
          value={text}
          min={localDateValue(nowMs + 60_000)}
          {...(Number.isFinite(latestMs) ? { max: localDateValue(latestMs) } : {})}
          required
          aria-invalid={fault !== null}
          aria-describedby={fault === null ? undefined : FAULT_ID}
          onInput={({ currentTarget }) => {
            next.lifetime.value = { kind: "until", text: currentTarget.value };
          }}
        />
      </label>
      {fault !== null && (
        <p id={FAULT_ID} class="fault" role="alert">
          {fault}
          {waiting > 0 && ` ${t("uploads.filesWait", { count: waiting })}`}
        </p>
      )}
    </>
  );
}
