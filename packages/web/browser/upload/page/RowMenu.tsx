import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { shareTexts } from "../../../src/share.ts";
import { t } from "../../../src/texts.ts";
import { editAddress, type SavedImage } from "../../saved/saved-image.ts";
import { copyText } from "../../sharing/copy-text.ts";
import { canShare, shareLink } from "../../sharing/share-link.ts";
import type { Session } from "../session.ts";
import { pageAddress, sharedFile } from "../share-texts.ts";
import { Icon } from "./icons.tsx";
import { deleteImages, removeFromList } from "./list-actions.ts";

export interface RowMenuProps {
  image: SavedImage;
  session: Session;
  /** Shows and announces the result of an action; `null` clears it. */
  tell(text: string | null): void;
  /** Called before the row is removed. */
  onLeave(): void;
}

const GAP_PX = 4;

/** A button with a menu of all that can be done with a stored image, besides copying its link. */
export function RowMenu(props: RowMenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const { name } = props.image;

  useLayoutEffect(() => {
    if (!isOpen || button.current === null || menu.current === null) return;
    const { left, right, top, bottom } = button.current.getBoundingClientRect();
    const { dir, clientWidth } = document.documentElement;
    const { style, offsetHeight } = menu.current;
    const hasRoom = bottom + offsetHeight + GAP_PX <= innerHeight || top < offsetHeight;
    style.insetInlineEnd = `${dir === "rtl" ? left : clientWidth - right}px`;
    style.top = `${scrollY + (hasRoom ? bottom + GAP_PX : top - offsetHeight - GAP_PX)}px`;
    menu.current.querySelector<HTMLElement>("a, button")?.focus({ preventScroll: true });
  }, [isOpen]);

  return (
    <>
      <button
        ref={button}
        type="button"
        class="quiet round"
        popovertarget={id}
        aria-expanded={isOpen}
        aria-label={t("uploads.more", { name })}
      >
        <Icon name="more" />
      </button>
      <div
        ref={menu}
        id={id}
        class="menu"
        popover="auto"
        onToggle={({ newState }) => setOpen(newState === "open")}
        onClickCapture={() => menu.current?.hidePopover()}
      >
        {isOpen && <Actions {...props} />}
      </div>
    </>
  );
}

function Actions({ image, session, tell, onLeave }: RowMenuProps) {
  const page = pageAddress(image);
  const shared = sharedFile(image);
  const [, ...codes] = shareTexts(shared);

  async function copy(text: string, said: string): Promise<void> {
    tell((await copyText(text)) ? said : t("uploads.copyFailed"));
  }

  // The image can be changed on the edit page: it is checked when the reader returns.
  const checkLater = () => session.saved.change(image.id, { checkedAt: undefined });

  return (
    <>
      <button type="button" onClick={() => void copy(shared.file, t("uploads.directCopied"))}>
        {t("uploads.copyDirect")}
      </button>
      {codes.map(([code, text]) => (
        <button key={code} type="button" onClick={() => void copy(text, t("uploads.codeCopied", { code }))}>
          {t("uploads.copyCode", { code })}
        </button>
      ))}
      <hr />
      {canShare() && (
        <button type="button" onClick={async () => tell(await shareLink(image.name, page))}>
          {t("share.share")}
        </button>
      )}
      {image.pin !== "" && (
        <>
          <a class="button" href={editAddress(image)} onClick={checkLater} onAuxClick={checkLater}>
            {t("uploads.edit")}
          </a>
          <button type="button" onClick={() => void copy(editAddress(image), t("uploads.editCopied"))}>
            {t("uploads.copyEdit")}
          </button>
        </>
      )}
      <hr />
      <button type="button" onClick={() => removeFromList(session, [image], onLeave)}>
        {t("uploads.remove")}
      </button>
      {image.pin !== "" && (
        <button
          type="button"
          class="danger"
          onClick={async () => tell(await deleteImages(session, [image], onLeave))}
        >
          {t("uploads.delete")}
        </button>
      )}
    </>
  );
}
