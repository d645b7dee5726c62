/** Largest lengths that fit the two shorter forms of a frame's head. */
const SHORT_LENGTH = 125
const MEDIUM_LENGTH = 0xffff
const TEXT_IN_ONE_PIECE = 0x81
/** First of the reserved bits: the payload is compressed. */
const COMPRESSED = 0x40

/**
 * A websocket text message as a server sends it: one frame, not masked (RFC 6455, 5.2). Made once, it can be written to
 * any number of connections.
 *
 * @param isCompressed the payload is one of `permessage-deflate` (RFC 7692).
 */
export function textFrame(payload: Uint8Array, isCompressed = false): Buffer {
  const head = frameHead(payload.length)
  head[0] = TEXT_IN_ONE_PIECE | (isCompressed ? COMPRESSED : 0)
  return Buffer.concat([head, payload])
}

function frameHead(length: number): Buffer {
  if (length <= SHORT_LENGTH) return Buffer.from([0, length])
  if (length <= MEDIUM_LENGTH) {
    const head = Buffer.alloc(4)
    head[1] = 126
    head.writeUInt16BE(length, 2)
    return head
  }
  const head = Buffer.alloc(10)
  head[1] = 127
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}
