import { hash } from 'node:crypto'

const DIGEST_BYTES = 32

/**
 * Computes the Merkle root as block headers contain it before the Savanna consensus (`libraries/chain/merkle.cpp` of
 * EOSIO and Leap). In each pair, the first bit of the left digest is cleared and the first bit of the right digest is
 * set. The last digest of an odd level is paired with itself.
 *
 * @param digests concatenated digests of 32 bytes each; overwritten.
 * @returns 32 bytes; zeros without digests.
 */
export function merkleRoot(digests: Buffer): Buffer {
  if (digests.length === 0) return Buffer.alloc(DIGEST_BYTES)
  const pair = Buffer.alloc(2 * DIGEST_BYTES)
  for (let count = digests.length / DIGEST_BYTES; count > 1; count = Math.ceil(count / 2)) {
    for (let left = 0; left < count; left += 2) {
      const right = Math.min(left + 1, count - 1)
      digests.copy(pair, 0, left * DIGEST_BYTES, (left + 1) * DIGEST_BYTES)
      digests.copy(pair, DIGEST_BYTES, right * DIGEST_BYTES, (right + 1) * DIGEST_BYTES)
      pair[0]! &= 0x7f
      pair[DIGEST_BYTES]! |= 0x80
      writeDigest(pair, digests, (left / 2) * DIGEST_BYTES)
    }
  }
  return digests.subarray(0, DIGEST_BYTES)
}

/**
 * Writes the SHA-256 of bytes into a buffer. Hashing to a binary string takes a third of the time of hashing to a
 * buffer (Node.js 20, 180 bytes: 0.8 and 2.6 us, 2026-11-27).
 */
export function writeDigest(bytes: Uint8Array, target: Buffer, at: number): void {
  target.write(hash('sha256', bytes, 'binary'), at, 'latin1')
}
