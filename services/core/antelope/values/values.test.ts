import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bigIntToName, nameFromString, nameToBigInt, nameToInt64, nameToString } from './name.ts'
import { bytesToHex, hexToBytes } from '../../bytes/index.ts'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { EncodeError } from '../../bytes/index.ts'
import {
  epochMsToSlot,
  formatEpochMicroseconds,
  formatEpochMs,
  formatEpochSeconds,
  parseTimeMicroseconds,
  slotToEpochMs,
} from './time.ts'
import { formatAsset, formatSymbol, parseAsset, parseSymbol } from './asset.ts'
import { keyText, legacyKeyText, parseKeyText } from './key.ts'

const word = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

describe('names', () => {
  it('a name converts to the 64-bit number that the chain uses', () => {
    expect(nameToBigInt('eosio')).toBe(0x5530ea0000000000n)
    expect(nameToBigInt('atomicassets')).toBe(0x36692720d8c2b380n)
    expect(nameToBigInt('')).toBe(0n)
    expect(nameToBigInt('zzzzzzzzzzzzj')).toBe(2n ** 64n - 1n)
    expect(nameFromString('eosio.token')).toEqual({ lo: 0x3482a600, hi: 0x5530ea03 })
  })

  it('a name converts to the signed 64-bit number that PostgreSQL stores', () => {
    expect(nameToInt64('zzzzzzzzzzzzj')).toBe(-1n)
    expect(bigIntToName(-1n)).toBe('zzzzzzzzzzzzj')
  })

  it('any 64-bit number round-trips through the text of a name', () => {
    fc.assert(
      fc.property(word, (value) => {
        const text = bigIntToName(value)
        expect(nameToBigInt(text)).toBe(value)
        expect(nameToString(Number(value & 0xffffffffn), Number(value >> 32n))).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })

  it('the text of a name omits trailing dots and keeps all others', () => {
    expect(bigIntToName(nameToBigInt('a.b..'))).toBe('a.b')
    expect(bigIntToName(nameToBigInt('..a'))).toBe('..a')
  })

  it.each(['Alice', 'alice6', 'a b', 'aaaaaaaaaaaaaa', 'aaaaaaaaaaaaz', 'ü', '\0'])(
    'the name codec refuses %j',
    (text) => {
      expect(() => nameFromString(text)).toThrow(EncodeError)
    },
  )
})

describe('assets and symbols', () => {
  it.each([
    [{ amount: 100000000n, precision: 8, symbol: 'WAX' }, '1.00000000 WAX'],
    [{ amount: -1n, precision: 8, symbol: 'WAX' }, '-0.00000001 WAX'],
    [{ amount: 7n, precision: 0, symbol: 'NFT' }, '7 NFT'],
    [{ amount: 0n, precision: 4, symbol: 'EOS' }, '0.0000 EOS'],
    [{ amount: -(2n ** 63n), precision: 18, symbol: 'A' }, '-9.223372036854775808 A'],
  ])('the asset codec formats and parses an asset, case %#', (asset, text) => {
    expect(formatAsset(asset)).toBe(text)
    expect(parseAsset(text)).toEqual(asset)
  })

  it.each(['', 'WAX', '1.0', '1. WAX', '9223372036854775808 A', '1.0 ABCDEFGH', '+1 A'])(
    'the asset codec refuses %j',
    (text) => {
      expect(() => parseAsset(text)).toThrow(EncodeError)
    },
  )

  it('the symbol codec formats and parses a symbol', () => {
    expect(formatSymbol(8, 'WAX')).toBe('8,WAX')
    expect(parseSymbol('8,WAX')).toEqual({ precision: 8, symbol: 'WAX' })
    expect(() => parseSymbol('WAX')).toThrow(EncodeError)
    expect(() => parseSymbol('256,WAX')).toThrow(EncodeError)
  })
})

describe('times', () => {
  it('the time codec counts block slots of half a second from the year 2000', () => {
    expect(slotToEpochMs(0)).toBe(Date.UTC(2000, 0, 1))
    expect(epochMsToSlot(Date.UTC(2000, 0, 1) + 1999)).toBe(3)
    expect(() => epochMsToSlot(0)).toThrow(EncodeError)
  })

  it('the time codec prints ISO 8601 as Date does, without the final Z', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), (ms) => {
        expect(`${formatEpochMs(ms)}Z`).toBe(new Date(ms).toISOString())
        expect(formatEpochMicroseconds(BigInt(ms) * 1000n)).toBe(formatEpochMs(ms))
        expect(parseTimeMicroseconds(formatEpochMs(ms))).toBe(BigInt(ms) * 1000n)
      }),
      { numRuns: 2000 },
    )
    expect(formatEpochSeconds(0xffffffff)).toBe('2106-02-07T06:28:15')
    expect(formatEpochMicroseconds(2n ** 64n - 1n)).toBe('586524-01-19T08:01:49.551')
  })

  it.each(['', '2026-11-20', '2026-13-01T00:00:00', '2026-11-20T24:00:00', '1969-12-31T23:59:59'])(
    'the time codec refuses %j',
    (text) => {
      expect(() => parseTimeMicroseconds(text)).toThrow(EncodeError)
    },
  )
})

describe('base58', () => {
  it('the base58 codec writes each leading zero byte as 1', () => {
    expect(encodeBase58(hexToBytes('00000001'))).toBe('1112')
    expect(bytesToHex(decodeBase58('1112'))).toBe('00000001')
    expect(encodeBase58(new Uint8Array(0))).toBe('')
    expect(encodeBase58(new Uint8Array(3))).toBe('111')
  })

  it('the base58 codec writes the IPFS content identifier of a SHA-256 hash', () => {
    const hex = '12209d6c2be50f706953479ab9df2ce3edca90b68053c00b3004b7f0accbe1e8eedf'
    expect(encodeBase58(hexToBytes(hex))).toBe('QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG')
  })

  it('any bytes round-trip through base58', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expect(decodeBase58(encodeBase58(bytes))).toEqual(bytes)
      }),
      { numRuns: 1000 },
    )
  })

  it('the base58 codec refuses characters outside its alphabet, and writes input above 1024 bytes as hexadecimal', () => {
    expect(() => decodeBase58('0OIl')).toThrow(EncodeError)
    expect(encodeBase58(new Uint8Array(500_000).fill(255)).slice(0, 4)).toBe('0xff')
  })
})

describe('hexadecimal', () => {
  it('the hexadecimal codec reads upper and lower case, and refuses text that is not hexadecimal', () => {
    expect(bytesToHex(hexToBytes('00fFAb'))).toBe('00ffab')
    expect(bytesToHex(hexToBytes('00ffab'), 1, 2)).toBe('ff')
    expect(() => hexToBytes('0')).toThrow(EncodeError)
    expect(() => hexToBytes('0g')).toThrow(EncodeError)
  })
})

describe('public keys and signatures', () => {
  const legacy = 'EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV'
  const modern = 'PUB_K1_6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5BoDq63'

  it('the key codec reads the legacy and the current text form of a public key', () => {
    const packed = parseKeyText('PUB', legacy)
    expect(packed).toHaveLength(34)
    expect(parseKeyText('PUB', modern)).toEqual(packed)
    expect(keyText('PUB', packed[0]!, packed.subarray(1))).toBe(modern)
    expect(legacyKeyText(packed.subarray(1))).toBe(legacy)
  })

  it('the key codec refuses a wrong checksum, prefix or length', () => {
    expect(() => parseKeyText('PUB', modern.replace('q63', 'q64'))).toThrow('checksum')
    expect(() => parseKeyText('PUB', legacy.replace('5CV', '5CW'))).toThrow('checksum')
    expect(() => parseKeyText('SIG', modern)).toThrow(EncodeError)
    expect(() => parseKeyText('PUB', keyText('PUB', 0, new Uint8Array(32)))).toThrow('32 bytes')
    expect(() => parseKeyText('PUB', 'PUB_K1_')).toThrow(EncodeError)
  })
})
