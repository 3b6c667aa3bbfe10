import { useRef, useState } from "preact/hooks";
import { FILE_KINDS } from "../file-kinds.ts";
import type { Session } from "../session.ts";
import type { SavedImage } from "../store/saved-image.ts";
import { CrossIcon } from "./icons.tsx";
import { leaveCard } from "./leave-card.ts";
import { NameField } from "./NameField.tsx";
import { ShareLinks } from "./ShareLinks.tsx";
import { Thumbnail } from "./Thumbnail.tsx";
import { TimeLeft } from "./TimeLeft.tsx";

/** An image of an earlier visit. It expands to its links and actions. */
export function SavedCard({ image, session }: { image: SavedImage; session: Session }) {
  const card = useRef<HTMLLIElement>(null);
  const [isOpen, setOpen] = useState(false);
  const label = FILE_KINDS.find(({ type }) => type === image.type)?.label ?? null;

  function forget(): void {
    leaveCard(card.current);
    session.saved.forget(image.id);
  }

  return (
    <li ref={card} class="entry earlier">
      <Thumbnail localUrl={null} image={image} label={label} />
      <div class="body">
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>
            <span class="title">{image.name}</span>
            <span class="facts">
              {label}
              <TimeLeft image={image} clock={session.clock} />
            </span>
          </summary>
          {isOpen && (
            <>
              <NameField
                name={image.name}
                isFixed={false}
                onName={(name) => session.images.rename(image, name)}
              />
              <ShareLinks image={image} session={session} onDeleted={forget} />
            </>
          )}
        </details>
      </div>
      <button
        type="button"
        class="quiet round"
        aria-label={`Remove ${image.name} from this list`}
        title="Remove from this list"
        onClick={() => {
          forget();
          session.log.say(`${image.name} removed from this list.`);
        }}
      >
        <CrossIcon />
      </button>
    </li>
  );
}
