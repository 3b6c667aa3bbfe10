import { useRef, useState } from "preact/hooks";
import type { SavedImage } from "../../saved/saved-image.ts";
import { FILE_KINDS } from "../file-kinds.ts";
import type { Session } from "../session.ts";
import { entryId } from "../store/departing.ts";
import { CrossIcon } from "./icons.tsx";
import { leaveCard } from "./leave-card.ts";
import { NameField } from "./NameField.tsx";
import { nameFieldId } from "./OwnerActions.tsx";
import { ShareLinks } from "./ShareLinks.tsx";
import { Thumbnail } from "./Thumbnail.tsx";
import { TimeLeft } from "./TimeLeft.tsx";

/** An image of an earlier visit. It expands to its links and actions while the service serves it. */
export function SavedCard({ image, session }: { image: SavedImage; session: Session }) {
  const card = useRef<HTMLLIElement>(null);
  const [isOpen, setOpen] = useState(false);
  const { name, type, unavailable } = image;
  const label = FILE_KINDS.find((kind) => kind.type === type)?.label ?? null;
  const head = (
    <>
      <span class="title" dir="auto">
        {name}
      </span>
      <span class="facts">
        {label}
        <span class="life">
          {label !== null && " · "}
          <TimeLeft image={image} clock={session.clock} />
        </span>
      </span>
    </>
  );

  return (
    <li ref={card} id={entryId(image)} class="entry earlier">
      <Thumbnail localUrl={null} image={unavailable === undefined ? image : null} label={label} />
      <div class="body">
        {unavailable === undefined ? (
          <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
            <summary>{head}</summary>
            {isOpen && (
              <>
                <NameField
                  id={nameFieldId(image)}
                  name={name}
                  isFixed={false}
                  onName={(chosen) => session.images.rename(image, chosen)}
                />
                <ShareLinks image={image} session={session} />
              </>
            )}
          </details>
        ) : (
          head
        )}
      </div>
      <button
        type="button"
        class="quiet round"
        aria-label={`Remove ${name} from this list`}
        title="Remove from this list. You will no longer be able to edit or delete the image."
        onClick={() => {
          leaveCard(card.current);
          session.departing.start([image], "list");
        }}
      >
        <CrossIcon />
      </button>
    </li>
  );
}
