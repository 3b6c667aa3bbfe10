import { useState } from "preact/hooks";
import { editAddress, type SavedImage } from "../../saved/saved-image.ts";
import { squareOf } from "../share-texts.ts";
import type { MessageLog } from "../store/message-log.ts";
import { CopyButton } from "./CopyButton.tsx";

export interface SquareCutProps {
  image: SavedImage;
  /** Pixels; of a smaller picture the square is as large as the picture allows. */
  side: number;
  log: MessageLog;
}

/** A square cut of an image, such as an avatar: its picture, to save and to link. */
export function SquareCut({ image, side, log }: SquareCutProps) {
  const [isOpen, setOpen] = useState(false);
  const { name } = image;
  return (
    <details class="square" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Square, {side} px<span class="unseen"> of {name}</span>
      </summary>
      {isOpen && <OpenCut {...{ image, side, log }} />}
    </details>
  );
}

function OpenCut({ image, side, log }: SquareCutProps) {
  const [state, setState] = useState("Cutting…");
  const { name } = image;
  const { address, label } = squareOf(image, side);
  return (
    <div class="square-cut">
      <img
        src={address}
        alt={`The square cut of ${name}`}
        width="128"
        height="128"
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
          setState(`${label} · ${naturalWidth} × ${naturalHeight} pixels`);
          log.say(`The square of ${name} is ready.`);
        }}
        onError={() => {
          setState("This picture can’t be cut now. Try again later.");
          log.say(`${name} can’t be cut now.`);
        }}
      />
      <div>
        <p>{state}</p>
        <div class="square-deeds">
          <a href={address} download>
            Download<span class="unseen"> the square of {name}</span>
          </a>
          <CopyButton className="plain" text={address} what="Address of the square" log={log}>
            Copy address<span class="unseen"> of the square of {name}</span>
          </CopyButton>
        </div>
        <p class="hint">
          Cut around the focal point. <a href={`${editAddress(image)}#focus-x`}>Move it</a>
        </p>
      </div>
    </div>
  );
}
