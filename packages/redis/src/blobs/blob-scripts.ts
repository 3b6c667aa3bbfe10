import { createScript } from "../connection/redis-connection.ts";

/*
 * A blob is a hash, its head: `revision`, `size`, `piece` (bytes per piece; 0 where `inline` holds the bytes). The names of
 * its pieces end in its revision and their number. All keys of a script are in one slot: they have one hash tag.
 *
 * Scripts are kept from bytes where that can be: Lua takes more than a millisecond to be given a megabyte, in which the server
 * does nothing else.
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
 * Makes written bytes the blob. KEYS: head, index. ARGV: the last server time at which this may happen, stem of the names
 * of pieces, key of the blob, condition ("any", "none" or "is"), revision of the condition, new revision, size, bytes per
 * piece, inline bytes, how long readers may still read what was there, how long the blob is there (0: for ever).
 *
 * Answers [what happened, server time]: "done", "late", "conflict" or "lost" (pieces are missing). All that can fail comes
 * before the first write or is the first write, for a script that fails takes nothing back.
 *
 * Pieces outlive their head, for those who began to read. An index lives as long as the last head that is in it; the names of
 * heads that went before are taken out by `listKeys`.
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
 * Removes a blob. KEYS: head, index. ARGV: the last server time at which this may happen, stem of the names of pieces, key of
 * the blob, how long readers may still read it. Answers [what happened, server time]: "done", "late" or "none".
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
 * Lists keys of an index, and takes those out of it whose blobs have expired. KEYS: index. ARGV: what names of heads begin with,
 * where the range of keys begins and ends, as ZRANGEBYLEX wants it, how many keys. A server that refuses writes lists all the
 * same.
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
