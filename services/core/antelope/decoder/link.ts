import { AbiError } from '../../bytes/index.ts'
import { formatEpochMicroseconds, formatEpochMs, formatEpochSeconds, slotToEpochMs } from '../values/time.ts'
import { nameToString } from '../values/name.ts'
import {
  assetAt,
  boolAt,
  charge,
  descend,
  hexAt,
  int128At,
  pauseReading,
  readBitset,
  readBytes,
  readCount,
  readKey,
  readLength,
  readText,
  readVaruint32,
  readVarint32,
  refuse,
  resumeReading,
  skipBytes,
  skipKey,
  state,
  symbolAt,
  symbolCodeAt,
  tooShort,
} from './read-state.ts'

// Functions that generated code may call. `CodeEmitter` uses the same names.
const runtime = {
  R: state,
  assetAt,
  boolAt,
  charge,
  define,
  descend,
  hexAt,
  int128At,
  pauseReading,
  resumeReading,
  nameOf: nameToString,
  readBitset,
  readBytes,
  readCount,
  readKey,
  readLength,
  readText,
  readVaruint32,
  readVarint32,
  refuse,
  skipBytes,
  skipKey,
  slotTime: (slot: number) => formatEpochMs(slotToEpochMs(slot)),
  symbolAt,
  symbolCodeAt,
  timePoint: formatEpochMicroseconds,
  timePointSec: formatEpochSeconds,
  tooShort,
}

const names = Object.keys(runtime)
const values = Object.values(runtime)

/**
 * Compiles generated source and returns the value of its last statement.
 * @param bindings further values that the source may name.
 * @throws AbiError if the JavaScript engine cannot compile the source, which only an absurdly large ABI causes.
 */
export function linkCode(source: string, bindings: Readonly<Record<string, unknown>> = {}): unknown {
  try {
    // The generated source contains text of the ABI only as JSON strings, so an ABI cannot inject code.
    // eslint-disable-next-line @typescript-eslint/no-implied-eval
    const create = new Function(...names, ...Object.keys(bindings), `'use strict'; ${source}`)
    return (create as (...parts: unknown[]) => unknown)(...values, ...Object.values(bindings))
  } catch (error) {
    throw new AbiError('no decoder can be generated from this ABI', { cause: error })
  }
}

function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}
