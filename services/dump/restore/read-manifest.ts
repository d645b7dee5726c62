import { createHash } from 'node:crypto'
import { readerSchema } from '../../core/config/schema/index.ts'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { isReadable } from '../format/compression.ts'
import { MANIFEST, MANIFEST_BYTES, parseManifest, signatureName } from '../format/manifest.ts'
import type { Manifest } from '../format/manifest.ts'
import { isSignature, readPublicKey, SIGNATURE_FILE_BYTES } from '../format/signature.ts'
import type { DumpSource } from './dump-source.ts'
import type { SignedManifest } from './restore-target.ts'

/**
 * Reads a manifest and its signature. Without a key, a signature that cannot be read counts as missing.
 *
 * @throws RetryableError `DUMP_UNREACHABLE`; FatalError `DUMP_DAMAGED`.
 */
export async function readManifest(
  source: DumpSource,
  signal: AbortSignal,
  hasKey: boolean,
): Promise<SignedManifest> {
  const bytes = await source.read(MANIFEST, MANIFEST_BYTES, signal)
  if (bytes === undefined)
    throw new RetryableError('DUMP_UNREACHABLE', `${source.shown} has no file ${MANIFEST}`)
  const name = signatureName(createHash('sha256').update(bytes).digest('hex'))
  const signature = await source.read(name, SIGNATURE_FILE_BYTES, signal).catch((error: unknown) => {
    if (hasKey) throw error
    return undefined
  })
  return { bytes, signature: signature?.toString('latin1') ?? null }
}

/** The chain that the dump must have, the key that must have signed it, and the wanted name of its reader. */
interface Expected {
  readonly chainId: string
  readonly keyFile?: string
  readonly reader?: string
}

/**
 * Checks signature, form and chain of a manifest.
 *
 * @throws FatalError `DUMP_UNTRUSTED`, `DUMP_UNFIT`, `CHAIN_MISMATCH`, `USAGE`.
 */
export async function openManifest(
  { bytes, signature }: SignedManifest,
  { chainId, keyFile, reader }: Expected,
): Promise<Manifest> {
  if (keyFile !== undefined) {
    const key = await readPublicKey(keyFile)
    if (signature === null) throw new FatalError('DUMP_UNTRUSTED', 'the dump is not signed')
    if (!isSignature(signature, bytes, key))
      throw new FatalError('DUMP_UNTRUSTED', `the dump is not signed with the key of ${keyFile}`)
  }
  const manifest = parseManifest(bytes)
  if (manifest.chain_id !== chainId)
    throw new FatalError(
      'CHAIN_MISMATCH',
      `the dump is of chain ${manifest.chain_id}, the configuration names chain ${chainId}`,
      { details: { expected: chainId, actual: manifest.chain_id, held: `chain ${manifest.chain_id}` } },
    )
  if (reader !== undefined && !readerSchema.shape.name.safeParse(reader).success)
    throw new FatalError('USAGE', '--reader: not the name of a reader')
  if (reader !== undefined && manifest.readers.length > 1)
    throw new FatalError(
      'USAGE',
      `the dump has ${manifest.readers.length} readers, but --reader renames only the reader of a dump with one reader`,
    )
  const unreadable = manifest.tables.flatMap(({ files }) => files).find(({ path }) => !isReadable(path))
  if (unreadable)
    throw new FatalError(
      'DUMP_UNFIT',
      `${unreadable.path} is compressed with zstd, which this Node.js does not read`,
    )
  return manifest
}
