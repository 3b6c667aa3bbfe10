import type { DefaultTreeAdapterTypes as Tree } from "parse5";

/** The children of an element. A heading or a term is one of them with what follows it, up to the next of its rank. */
export function inSections(node: Tree.Element): Tree.ChildNode[] {
  const isSection = node.nodeName === "#section";
  const children: Tree.ChildNode[] = [];
  let section: { rank: number; element: Tree.Element } | null = null;
  for (const child of node.childNodes) {
    const rank = children.length === 0 && isSection ? 0 : rankOf(child);
    if (rank > 0 && (section === null || rank <= section.rank)) {
      section = {
        rank,
        element: { ...node, tagName: "section", nodeName: "#section", attrs: [], childNodes: [child] },
      };
      children.push(section.element);
    } else if (section !== null) section.element.childNodes.push(child);
    else children.push(child);
  }
  return children;
}

function rankOf(node: Tree.ChildNode): number {
  return node.nodeName === "dt" ? 7 : Number(/^h([1-6])$/.exec(node.nodeName)?.[1] ?? 0);
}
