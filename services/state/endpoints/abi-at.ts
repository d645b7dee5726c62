import { parsePackedAbi } from '../../core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { AbiError, DecodeError } from '../../core/bytes/index.ts'
import { describeError } from '../../core/errors/index.ts'
import { abiNotFound, notReady, Refusal } from '../answers/index.ts'
import type { AbiVersion, Position } from '../chain/index.ts'
import { RowDecoder } from '../tables/row-decoder.ts'
import type { TableAbi } from '../tables/row-decoder.ts'
import type { StateParts } from './endpoint.ts'

/** Message of the refusal if a fork undoes an ABI between its lookup and its read. */
const ABI_UNDONE = 'A fork has just undone the ABI. Send the request again.'

/** The block of a request, with the reader's position. */
export interface ReadBlock {
  readonly block: number
  readonly position: Position
}

export interface TableOf {
  readonly account: string
  readonly table: string
}

/**
 * The ABI in force at a block.
 * @throws Refusal 400 if there is none or it was removed.
 */
export async function requireAbi(
  { abis }: StateParts,
  account: string,
  { block, position }: ReadBlock,
): Promise<AbiVersion> {
  const version = await abis.at(account, block, position)
  if (!version || version.isEmpty) throw abiNotFound(account, block)
  return version
}

/**
 * The packed form of an ABI.
 * @throws Refusal 503 if a fork has just undone it.
 */
export async function requirePacked({ abis }: StateParts, version: AbiVersion): Promise<Buffer> {
  const packed = await abis.packed(version)
  if (!packed) throw notReady(ABI_UNDONE)
  return packed
}

/**
 * JSON text of an ABI.
 * @throws Refusal 400 if the account's bytes are not an ABI.
 */
export function abiText(packed: Uint8Array, version: AbiVersion): string {
  try {
    return JSON.stringify(parsePackedAbi(packed))
  } catch (error) {
    throw unreadableAbi(version, error)
  }
}

function unreadableAbi({ account, block }: AbiVersion, cause: unknown): Refusal {
  const message = `The ABI that account '${account}' set in block '${block}' cannot be read: ${describeError(cause)}`
  return new Refusal(400, 'data_decoding_abi_error', message, { details: { account, block_num: block } })
}

/**
 * Creates the decoder of a table's rows at a block.
 * @throws Refusal 400 if there is no ABI.
 */
export async function rowDecoderAt(
  parts: StateParts,
  { account, table }: TableOf,
  at: ReadBlock,
): Promise<{ readonly version: AbiVersion; readonly decoder: RowDecoder }> {
  const version = await requireAbi(parts, account, at)
  const current = { abi: await compile(parts, version), block: version.block }
  const older = () => olderAbis(parts, version, at)
  return { version, decoder: new RowDecoder({ table, current, older }) }
}

/** Reads the previous ABIs of an account, and skips unreadable ABIs. */
async function olderAbis(parts: StateParts, version: AbiVersion, at: ReadBlock): Promise<TableAbi[]> {
  const found: TableAbi[] = []
  for (const older of await parts.abis.before(version, at.position)) {
    // An ABI is unreadable if the account set bytes that are not an ABI, or if a fork has just undone the ABI.
    const abi = await parts.abis.compiled(older).catch(passUnreadable)
    if (abi) found.push({ abi, block: older.block })
  }
  return found
}

function passUnreadable(error: unknown): null {
  if (error instanceof AbiError || error instanceof DecodeError) return null
  throw error
}

async function compile({ abis }: StateParts, version: AbiVersion): Promise<CompiledAbi> {
  let compiled: CompiledAbi | null
  try {
    compiled = await abis.compiled(version)
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw unreadableAbi(version, error)
  }
  if (!compiled) throw notReady(ABI_UNDONE)
  return compiled
}
