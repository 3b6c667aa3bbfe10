export function redirectHttps(base: string, onRequest?: (line: string) => void): () => void;
