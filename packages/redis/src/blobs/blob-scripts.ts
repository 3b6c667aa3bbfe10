import { createScript } from "../connection/redis-connection.ts";

/*
 * A blob is a hash, its head, with the fields `revision`, `size`, `piece` (bytes per piece; 0 if `inline` holds the
 * bytes) and `inline`. The names of its pieces end with its revision and their number. All keys of a script have
 * the same hash tag, so they are in one slot.
 *
 * Large bytes do not pass through scripts: handing a megabyte to Lua takes more than a millisecond, and the server
 * serves no other client meanwhile.
 */

const READ_CLOCK = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

const LET_GO = `
local function letGo(stem, revision, size, piece, ms)
  if piece == 0 then return end
  for index = 0, math.ceil(size / piece) - 1 do
    redis.call('PEXPIRE', stem .. revision .. ':' .. index, ms)
  end
end
`;

const EXPIRE = `
local function expire(name, ms, graceMs)
  if ms == 0 then redis.call('PERSIST', name) else redis.call('PEXPIRE', name, ms + graceMs) end
end
`;

/**
 * Commits written bytes as the blob. KEYS: head, index. ARGV: the last server time at which it may run, prefix of
 * the names of pieces, key of the blob, condition ("any", "none" or "is"), revision of the condition, new revision,
 * size, bytes per piece, inline bytes, how long readers may still read the replaced bytes, time to live of the blob
 * (0: it never expires).
 *
 * Returns [outcome, server time]. Outcomes: "done", "late", "conflict" or "lost" (pieces are missing). Every step
 * that can fail precedes the first write or is the first write, because Redis does not roll back a script that
 * fails.
 *
 * Pieces outlive their head, so that a read in progress can finish. An index lives as long as its last head;
 * `listKeys` removes the names of heads that expired earlier.
 */
export const commitBlob = createScript(`${READ_CLOCK}${LET_GO}${EXPIRE}
local ms, stem, size, piece, ttlMs = now(), ARGV[2], tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[11])
if ms > tonumber(ARGV[1]) then return {'late', ms} end
local old = redis.call('HMGET', KEYS[1], 'revision', 'size', 'piece')
if ARGV[4] == 'none' and old[1] then return {'conflict', ms} end
if ARGV[4] == 'is' and old[1] ~= ARGV[5] then return {'conflict', ms} end
local last = piece == 0 and -1 or math.ceil(size / piece) - 1
for index = 0, last do
  if redis.call('EXISTS', stem .. ARGV[6] .. ':' .. index) == 0 then return {'lost', ms} end
end
redis.call('HSET', KEYS[1], 'revision', ARGV[6], 'size', ARGV[7], 'piece', ARGV[8], 'inline', ARGV[9])
local indexMs = redis.call('PTTL', KEYS[2])
redis.call('ZADD', KEYS[2], 0, ARGV[3])
if ttlMs > 0 or old[1] then expire(KEYS[1], ttlMs, 0) end
for index = 0, last do expire(stem .. ARGV[6] .. ':' .. index, ttlMs, tonumber(ARGV[10])) end
if (indexMs >= 0 and (ttlMs == 0 or indexMs < ttlMs)) or (indexMs == -2 and ttlMs > 0) then expire(KEYS[2], ttlMs, 0) end
if old[1] then letGo(stem, old[1], tonumber(old[2]), tonumber(old[3]), ARGV[10]) end
return {'done', ms}
`);

/**
 * Deletes a blob. KEYS: head, index. ARGV: the last server time at which it may run, prefix of the names of pieces,
 * key of the blob, how long readers may still read it. Returns [outcome, server time]. Outcomes: "done", "late" or
 * "none".
 */
export const deleteBlob = createScript(`${READ_CLOCK}${LET_GO}
local ms = now()
if ms > tonumber(ARGV[1]) then return {'late', ms} end
local old = redis.call('HMGET', KEYS[1], 'revision', 'size', 'piece')
redis.call('ZREM', KEYS[2], ARGV[3])
if not old[1] then return {'none', ms} end
redis.call('DEL', KEYS[1])
letGo(ARGV[2], old[1], tonumber(old[2]), tonumber(old[3]), ARGV[4])
return {'done', ms}
`);

/**
 * Lists keys of an index and removes from it the keys of expired blobs. KEYS: index. ARGV: prefix of the names of
 * heads, start and end of the range in the syntax of ZRANGEBYLEX, number of keys. It also works on a server that
 * refuses writes.
 */
export const listKeys = createScript(`
local start, count, found = ARGV[2], tonumber(ARGV[4]), {}
repeat
  local keys = redis.call('ZRANGEBYLEX', KEYS[1], start, ARGV[3], 'LIMIT', 0, count)
  for _, key in ipairs(keys) do
    if redis.call('EXISTS', ARGV[1] .. key) == 1 then
      if #found < count then found[#found + 1] = key end
    else
      redis.pcall('ZREM', KEYS[1], key)
    end
    start = '(' .. key
  end
until #keys < count or #found >= count
return found
`);
