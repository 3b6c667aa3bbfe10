/** A worker that cannot load its libraries. */
process.on("disconnect", () => process.exit());
process.on("message", () => {});
process.send({ kind: "unusable", reason: "a library is missing" });
