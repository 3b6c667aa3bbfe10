import { useState } from "preact/hooks";
import type { SavedImage } from "../../saved/saved-image.ts";
import { canShare, shareLink, showQr } from "../../sharing/share-link.ts";
import { pageAddress } from "../share-texts.ts";
import type { MessageLog } from "../store/message-log.ts";

/** Buttons for the share sheet, where the browser has one, and the QR code of an image's link. */
export function SharingButtons({ image, log }: { image: SavedImage; log: MessageLog }) {
  const { name } = image;
  const [problem, setProblem] = useState<string | null>(null);

  async function open(show: typeof showQr): Promise<void> {
    const message = await show(name, pageAddress(image));
    setProblem(message);
    if (message !== null) log.say(message);
  }

  return (
    <>
      {canShare() && (
        <button
          type="button"
          class="plain"
          aria-label={`Share… ${name}`}
          onClick={() => void open(shareLink)}
        >
          Share…
        </button>
      )}
      <button
        type="button"
        class="plain"
        aria-label={`QR code of the link to ${name}`}
        onClick={() => void open(showQr)}
      >
        QR
      </button>
      {problem !== null && <p class="hint">{problem}</p>}
    </>
  );
}
