/** A worker that cannot load what it needs. */
process.on("disconnect", () => process.exit());
process.on("message", () => {});
process.send({ kind: "unusable", reason: "a library is missing" });
