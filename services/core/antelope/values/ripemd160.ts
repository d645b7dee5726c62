// Written out because OpenSSL 3 has this digest in a provider that some builds leave out, and the text of
// a key cannot be written without it. Tables as in the publication of RIPEMD-160 (Dobbertin and others, 1996),
// one hexadecimal digit per step.
const leftWord = table('0123456789abcdef74d1a6f3c0952eb83ae49f812706db5c19ba08c4d37fe56240597c2ae138b6fd')
const rightWord = table('5e7092b4d6f81a3c6b370d5aef8c4912f5137e69b8c2a04d86413bf05c2d97aecfa4158762de039b')
const leftShift = table('befc5879bdef6798768db97f7cf9b7dcbd67e9dfe8d65c75bcefef989e56865c9f5b68dc5cdeb856')
const rightShift = table('899bdff5778beec69df7c89b77c76fdb97fb866ecd5edd75f58bee6e69c9c5f885c9c5e68d65fdbb')
const leftConstant = [0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e]
const rightConstant = [0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0]

function table(digits: string): Uint8Array {
  return Uint8Array.from(digits, (digit) => parseInt(digit, 16))
}

function mix(round: number, x: number, y: number, z: number): number {
  if (round === 0) return x ^ y ^ z
  if (round === 1) return (x & y) | (~x & z)
  if (round === 2) return (x | ~y) ^ z
  return round === 3 ? (x & z) | (y & ~z) : x ^ (y | ~z)
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

type Registers = [number, number, number, number, number]

function line(state: Registers, block: DataView, at: number, right: boolean): Registers {
  let [a, b, c, d, e] = state
  const words = right ? rightWord : leftWord
  const shifts = right ? rightShift : leftShift
  for (let step = 0; step < 80; step++) {
    const round = step >>> 4
    const constant = (right ? rightConstant : leftConstant)[round]!
    const word = block.getUint32(at + words[step]! * 4, true)
    const sum = (a + mix(right ? 4 - round : round, b, c, d) + word + constant) | 0
    const next = (rotate(sum, shifts[step]!) + e) | 0
    a = e
    e = d
    d = rotate(c, 10)
    c = b
    b = next
  }
  return [a, b, c, d, e]
}

/** The 20 bytes of the RIPEMD-160 digest. */
export function ripemd160(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array((Math.floor((message.length + 8) / 64) + 1) * 64)
  padded.set(message)
  padded[message.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(padded.length - 8, BigInt(message.length) * 8n, true)
  let state: Registers = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]
  for (let at = 0; at < padded.length; at += 64) {
    const left = line(state, view, at, false)
    const right = line(state, view, at, true)
    const [a, b, c, d, e] = state
    state = [
      (b + left[2] + right[3]) | 0,
      (c + left[3] + right[4]) | 0,
      (d + left[4] + right[0]) | 0,
      (e + left[0] + right[1]) | 0,
      (a + left[1] + right[2]) | 0,
    ]
  }
  const digest = new DataView(new ArrayBuffer(20))
  state.forEach((word, index) => digest.setInt32(index * 4, word, true))
  return new Uint8Array(digest.buffer)
}
