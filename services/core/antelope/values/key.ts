import { EncodeError } from '../../bytes/index.ts'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { ripemd160 } from '@noble/hashes/legacy'

// Curve types in the order of their wire index: K1, R1, WA (WebAuthn). Only WA has a variable length.
const curves = ['K1', 'R1', 'WA'] as const
const fixedLength = { PUB: 33, SIG: 65 } as const

/** Kind of a packed key: public key or signature. */
export type KeyKind = 'PUB' | 'SIG'

/** Number of data bytes of K1 and R1 keys: 33 for a public key, 65 for a signature. */
export function keyLength(kind: KeyKind): number {
  return fixedLength[kind]
}

/** Formats a key as `PUB_K1_...` or `SIG_R1_...`, from the curve index (0 K1, 1 R1, 2 WA) and the key data. */
export function keyText(kind: KeyKind, curve: number, data: Uint8Array): string {
  const name = curves[curve]
  if (name === undefined) throw new EncodeError(`key type ${curve} is not known`)
  return `${kind}_${name}_${encodeBase58(concat(data, checksum(data, name)))}`
}

/** Formats the 33 bytes of a K1 public key in the legacy form `EOS...`. */
export function legacyKeyText(data: Uint8Array): string {
  return `EOS${encodeBase58(concat(data, checksum(data, '')))}`
}

/**
 * Parses `PUB_K1_...`, `SIG_R1_...` or a legacy `EOS...` public key to its packed form (curve index, then data).
 * @throws EncodeError for malformed text, a wrong length or a wrong checksum.
 */
export function parseKeyText(kind: KeyKind, text: string): Uint8Array {
  const shown = JSON.stringify(text.slice(0, 80))
  const legacy = kind === 'PUB' && /^EOS[1-9A-HJ-NP-Za-km-z]+$/.test(text)
  const match = legacy ? null : /^(PUB|SIG)_(K1|R1|WA)_([1-9A-HJ-NP-Za-km-z]+)$/.exec(text)
  if (!legacy && match?.[1] !== kind) throw new EncodeError(`${shown} is not the text of a ${kind} key`)
  const name = (match?.[2] ?? 'K1') as (typeof curves)[number]
  const bytes = decodeBase58(match?.[3] ?? text.slice(3))
  if (bytes.length < 5) throw new EncodeError(`key ${shown} is too short`)
  const data = bytes.subarray(0, bytes.length - 4)
  if (name !== 'WA' && data.length !== fixedLength[kind]) {
    throw new EncodeError(`key ${shown} has ${data.length} bytes instead of ${fixedLength[kind]}`)
  }
  const expected = checksum(data, legacy ? '' : name)
  if (expected.some((byte, i) => byte !== bytes[data.length + i])) {
    throw new EncodeError(`checksum of key ${shown} is wrong`)
  }
  return concat(Uint8Array.of(curves.indexOf(name)), data)
}

function checksum(data: Uint8Array, suffix: string): Uint8Array {
  return ripemd160(concat(data, new TextEncoder().encode(suffix))).subarray(0, 4)
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}
