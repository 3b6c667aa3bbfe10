import { sizeText } from "../../../src/phrases.ts";
import type { Clock } from "../store/clock.ts";
import type { Upload } from "../store/uploads.ts";
import { TimeLeft } from "./TimeLeft.tsx";

export interface UploadFactsProps {
  upload: Upload;
  clock: Clock;
  /** Whether to show when a stored image expires, or why it is unavailable. */
  showsExpiry: boolean;
}

/** The kind and size of a file. */
export function UploadFacts({ upload: { label, size, image }, clock, showsExpiry }: UploadFactsProps) {
  return (
    <p class="facts">
      {label !== null && `${label}, `}
      {sizeText(size)}
      {showsExpiry && image !== null && (
        <>
          {" · "}
          <TimeLeft image={image} clock={clock} />
        </>
      )}
    </p>
  );
}
