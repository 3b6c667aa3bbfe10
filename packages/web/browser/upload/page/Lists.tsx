import { useRef, useState } from "preact/hooks";
import { t } from "../../../src/texts.ts";
import { editAddress, type SavedImage } from "../../saved/saved-image.ts";
import type { Session } from "../session.ts";
import { pageAddress } from "../share-texts.ts";
import { headingText } from "../store/totals.ts";
import { canRetry, failuresFirst, isUnfinished, servedImage, type Upload } from "../store/uploads.ts";
import { CopyButton } from "./CopyButton.tsx";
import { CHOOSER_ID } from "./DropArea.tsx";
import { deleteImages, removeFromList } from "./list-actions.ts";
import { Row } from "./Row.tsx";

/** A longer list can be searched. */
const LONGEST_WITHOUT_SEARCH = 5;

/** The files added on this visit. */
export function UploadList({ session }: { session: Session }) {
  const uploads = failuresFirst(session.uploads.value);
  const atRisk = session.saved.atRisk.value;
  if (uploads.length === 0) return null;
  return (
    <div class="uploads">
      <UploadBar session={session} />
      {atRisk.length > 0 && <RiskNotice session={session} images={atRisk} />}
      <ul class="entries">
        {uploads.map((upload) => (
          <Row key={upload.key} upload={upload} session={session} />
        ))}
      </ul>
    </div>
  );
}

/** Says that only this page has the PINs of some images. */
function RiskNotice({ session, images }: { session: Session; images: readonly SavedImage[] }) {
  const values = { count: images.length };
  return (
    <div class="risk">
      <p class="trouble">{t("uploads.risk", values)}</p>
      <CopyButton
        text={images.map(editAddress).join("\n")}
        said={t("uploads.riskCopied", values)}
        onCopied={() => session.saved.markCopied()}
      >
        {t("uploads.copyRisk", values)}
      </CopyButton>
    </div>
  );
}

/** The state of all uploads together, with actions on all of them. It stays in view while the list scrolls. */
function UploadBar({ session }: { session: Session }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const uploads = session.uploads.value;
  const totals = session.totals.value;
  const { active, sentBytes, wantedBytes } = totals;
  const unfinished = uploads.filter(isUnfinished);
  const retried = uploads.filter(canRetry);
  const shared = uploads.map(servedImage).filter((image) => image !== null);

  function cancelAll(): void {
    // The button disappears, and with the last upload the whole bar.
    const isLast = unfinished.length === uploads.length;
    (isLast ? document.getElementById(CHOOSER_ID) : heading.current)?.focus();
    session.dismiss(unfinished);
  }

  function retryAll(): void {
    heading.current?.focus();
    for (const upload of retried) session.retry(upload);
  }

  return (
    <div class="heading upload-bar">
      <h2 ref={heading} tabIndex={-1}>
        {headingText(totals)}
      </h2>
      {unfinished.length > 0 && (
        <button type="button" class="plain" onClick={cancelAll}>
          {t("uploads.cancelAll")}
        </button>
      )}
      {active === 0 && retried.length > 0 && (
        <button type="button" class="plain" onClick={retryAll}>
          {t("uploads.retryAll")}
        </button>
      )}
      {active === 0 && shared.length > 1 && (
        <CopyButton className="plain" text={shared.map(pageAddress).join("\n")} said={t("uploads.allCopied")}>
          {t("uploads.copyAll")}
        </CopyButton>
      )}
      {active > 0 && (
        <progress aria-label={t("uploads.progressOfAll")} value={sentBytes} max={Math.max(1, wantedBytes)} />
      )}
    </div>
  );
}

/** Images of earlier visits that this browser has saved, to search and to select several. */
export function SavedList({ session }: { session: Session }) {
  const [query, setQuery] = useState("");
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null);
  const earlier = session.earlier.value;
  if (earlier.length === 0) return null;
  const wanted = query.trim().toLowerCase();
  const shown = earlier.filter(({ name }) => name.toLowerCase().includes(wanted));
  const toggle = (key: string) =>
    setSelected(
      (before) => new Set([...(before ?? []), key].filter((each) => each !== key || !before?.has(key))),
    );
  return (
    <div class="saved">
      <div class="heading">
        <h2>{t("uploads.list")}</h2>
        {earlier.length > LONGEST_WITHOUT_SEARCH && (
          <input
            type="search"
            aria-label={t("uploads.searchList")}
            placeholder={t("uploads.search")}
            value={query}
            onInput={({ currentTarget }) => setQuery(currentTarget.value)}
          />
        )}
        <ListActions session={session} shown={shown} selected={selected} onSelected={setSelected} />
      </div>
      <p class="hint">{t("uploads.listHint")}</p>
      {shown.length === 0 && <p role="status">{t("uploads.noneFound")}</p>}
      <ul class="entries">
        {shown.map((upload) => (
          <Row
            key={upload.key}
            upload={upload}
            session={session}
            isSelected={selected === null || upload.image === null ? undefined : selected.has(upload.key)}
            onSelect={() => toggle(upload.key)}
          />
        ))}
      </ul>
    </div>
  );
}

interface ListActionsProps {
  session: Session;
  shown: readonly Upload[];
  /** Keys of the selected uploads; `null` while none can be selected. */
  selected: ReadonlySet<string> | null;
  onSelected(selected: ReadonlySet<string> | null): void;
}

/** Actions on all shown images, or on the selected ones. */
function ListActions({ session, shown, selected, onSelected }: ListActionsProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const some = selected === null ? shown : shown.filter(({ key }) => selected.has(key));
  const images = some.flatMap(({ image }) => image ?? []);
  const owned = images.filter(({ pin }) => pin !== "");
  const links = some.map(servedImage).filter((image) => image !== null);
  const leave = () => {
    onSelected(null);
    document.getElementById(CHOOSER_ID)?.focus();
  };
  return (
    <>
      {links.length > 1 && (
        <CopyButton
          className="plain"
          text={links.map(pageAddress).join("\n")}
          said={t("uploads.linksCopied", { count: links.length })}
        >
          {selected === null ? t("uploads.copyAll") : t("uploads.copyLinks", { count: links.length })}
        </CopyButton>
      )}
      {selected === null ? (
        <button type="button" class="plain" onClick={() => onSelected(new Set())}>
          {t("uploads.select")}
        </button>
      ) : (
        <>
          <button
            type="button"
            class="plain"
            onClick={() => onSelected(new Set(shown.map(({ key }) => key)))}
          >
            {t("uploads.selectAll")}
          </button>
          {images.length > 0 && (
            <button type="button" class="plain" onClick={() => removeFromList(session, images, leave)}>
              {t("uploads.removeMany", { count: images.length })}
            </button>
          )}
          {owned.length > 0 && (
            <button
              type="button"
              class="plain danger"
              onClick={async () => setProblem(await deleteImages(session, owned, leave))}
            >
              {t("uploads.deleteMany", { count: owned.length })}
            </button>
          )}
          <button type="button" class="plain" onClick={() => onSelected(null)}>
            {t("uploads.done")}
          </button>
        </>
      )}
      {problem !== null && (
        <p class="trouble" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
