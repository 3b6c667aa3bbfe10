import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { editAddress, type SavedImage } from "../../saved/saved-image.ts";
import { copyText } from "../../sharing/copy-text.ts";
import { canShare, shareLink, showQr } from "../../sharing/share-link.ts";
import type { Session } from "../session.ts";
import { bbCodeOf, fileAddress, firstFormat, markdownOf, markupOf, pageAddress } from "../share-texts.ts";
import { COPY_FAILED } from "./CopyButton.tsx";
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
    const { right, top, bottom } = button.current.getBoundingClientRect();
    const { style, offsetHeight } = menu.current;
    const hasRoom = bottom + offsetHeight + GAP_PX <= innerHeight || top < offsetHeight;
    style.right = `${document.documentElement.clientWidth - right}px`;
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
        aria-label={`More for ${name}`}
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
  const format = firstFormat(image);
  const page = pageAddress(image);
  const copies: readonly (readonly [what: string, text: string])[] = [
    ["direct link", fileAddress(image, format)],
    ["Markdown", markdownOf(image, format)],
    ["HTML", markupOf(image, format)],
    ["BBCode", bbCodeOf(image, format)],
  ];

  async function copy(what: string, text: string, more = ""): Promise<void> {
    const isCopied = await copyText(text);
    tell(isCopied ? `${what[0]?.toUpperCase()}${what.slice(1)} copied.${more}` : COPY_FAILED);
  }

  // The image can be changed on the edit page: it is checked when the reader returns.
  const checkLater = () => session.saved.change(image.id, { checkedAt: undefined });

  return (
    <>
      {copies.map(([what, text]) => (
        <button key={what} type="button" onClick={() => void copy(what, text)}>
          Copy {what}
        </button>
      ))}
      <hr />
      {canShare() && (
        <button type="button" onClick={async () => tell(await shareLink(image.name, page))}>
          Share…
        </button>
      )}
      <button type="button" onClick={async () => tell(await showQr(image.name, page))}>
        QR code
      </button>
      {image.pin !== "" && (
        <>
          <a class="button" href={editAddress(image)} onClick={checkLater} onAuxClick={checkLater}>
            Edit name, expiry…
          </a>
          <button
            type="button"
            onClick={() =>
              void copy(
                "edit link",
                editAddress(image),
                " Anyone with the edit link can edit or delete the image.",
              )
            }
          >
            Copy edit link
          </button>
        </>
      )}
      <hr />
      <button type="button" onClick={() => removeFromList(session, [image], onLeave)}>
        Remove from this list
      </button>
      {image.pin !== "" && (
        <button
          type="button"
          class="danger"
          onClick={async () => tell(await deleteImages(session, [image], onLeave))}
        >
          Delete…
        </button>
      )}
    </>
  );
}
