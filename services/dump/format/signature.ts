import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { FatalError } from '../../core/errors/index.ts'

/** Length of an Ed25519 signature, bytes. */
const SIGNATURE_BYTES = 64
/** Longest signature file: base64 of the signature and a newline. */
export const SIGNATURE_FILE_BYTES = 1_024

/** Reads a private key, PEM (PKCS 8), from a file. @throws FatalError `USAGE`. */
export function readPrivateKey(file: string): Promise<KeyObject> {
  return readKey(file, 'private', createPrivateKey)
}

/** Reads a public key, PEM (SPKI), from a file. @throws FatalError `USAGE`. */
export function readPublicKey(file: string): Promise<KeyObject> {
  return readKey(file, 'public', createPublicKey)
}

async function readKey(
  file: string,
  kind: 'private' | 'public',
  create: (pem: string) => KeyObject,
): Promise<KeyObject> {
  let key: KeyObject
  try {
    const pem = await readFile(file, 'utf8')
    // `createPublicKey` also accepts a private key, which a public key file must not contain.
    if (kind === 'public' && pem.includes('PRIVATE'))
      throw new Error('the file contains a private key, not a public key')
    key = create(pem)
  } catch (cause) {
    throw new FatalError('USAGE', `${file} has no ${kind} key in PEM`, { cause })
  }
  if (key.asymmetricKeyType === 'ed25519') return key
  throw new FatalError(
    'USAGE',
    `${file} has a key of type ${key.asymmetricKeyType ?? 'unknown'}, not Ed25519`,
  )
}

/** The text of the signature file of a manifest. */
export function signManifest(manifest: Buffer, key: KeyObject): string {
  return `${sign(null, manifest, key).toString('base64')}\n`
}

/** Whether the text of a signature file is the signature of a manifest. */
export function isSignature(text: string, manifest: Buffer, key: KeyObject): boolean {
  const signature = Buffer.from(text.trim(), 'base64')
  return signature.length === SIGNATURE_BYTES && verify(null, manifest, key, signature)
}
