import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from 'acme-client'
import { untilAborted } from '../../core/retry/index.ts'
import { certificateFiles, installCertificate, timeLeft } from './certificate.ts'

/** Settings of an ACME order and the folders of its files. */
export interface AcmeSettings {
  /** URL of the ACME directory, the entry point of the authority. */
  readonly directory: string
  readonly email: string
  readonly domain: string
  /** Folder of the certificate. */
  readonly certificates: string
  /** Folder that the proxy serves below `/.well-known/acme-challenge/`. */
  readonly challenges: string
  /** Folder with the key of the ACME account. */
  readonly account: string
}

const ISSUER = 'issued-by-acme'
const CHALLENGES = '.well-known/acme-challenge'
/** Form of a challenge token: the characters of RFC 8555. The token becomes a file name, so other texts are refused. */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/

/** Maximum time that a certificate authority has to answer a request. */
const TIMEOUT_MS = 30_000

/**
 * Ensures that the certificate was issued by the authority for the domain, and has a third of its lifetime left.
 *
 * @returns whether a new certificate was issued.
 * @throws Error naming the authority and its answer; the abort reason of `signal` if `signal` is aborted.
 */
export async function ensureIssued(settings: AcmeSettings, signal: AbortSignal): Promise<boolean> {
  const { directory } = settings
  const stored = await readFile(join(settings.certificates, certificateFiles.chain), 'utf8').catch(() => '')
  const issued = await readFile(join(settings.account, ISSUER), 'utf8').catch(() => '')
  const { leftMs, lifetimeMs } = timeLeft(stored, settings.domain)
  // Earlier versions of Pronghorn stored the certificate chain without the URL of the ACME directory.
  const isOurs = issued === `${directory}\n${stored}` || issued === stored
  if (isOurs && leftMs > lifetimeMs / 3) return false
  await checkReachable(directory, signal)
  const acme = await import('acme-client')
  acme.axios.defaults.timeout = TIMEOUT_MS
  const client = new acme.Client({
    directoryUrl: directory,
    accountKey: await accountKey(settings, () => acme.crypto.createPrivateEcdsaKey()),
  })
  const [key, csr] = await acme.crypto.createCsr({ commonName: settings.domain, altNames: [settings.domain] })
  const chain = await Promise.race([order(client, csr, settings), untilAborted(signal)])
  if (chain === undefined) throw signal.reason
  await installCertificate(settings.certificates, chain, key.toString())
  await writeFile(join(settings.account, ISSUER), `${directory}\n${chain}`, { mode: 0o600 })
  return true
}

/** Checks the authority first: the ACME client would retry for over a minute and lose the reason. */
async function checkReachable(directory: string, signal: AbortSignal): Promise<void> {
  try {
    const answer = await fetch(directory, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    await answer.body?.cancel()
  } catch (cause) {
    throw new Error(`${directory} cannot be reached`, { cause })
  }
}

async function order(client: Client, csr: Buffer, settings: AcmeSettings): Promise<string> {
  const folder = join(settings.challenges, CHALLENGES)
  await mkdir(folder, { recursive: true })
  const ordered = client.auto({
    csr,
    email: settings.email,
    termsOfServiceAgreed: true,
    challengePriority: ['http-01'],
    // The ACME client does not try the challenge URL itself: in the network of the containers, the domain may resolve
    // to another address.
    skipChallengeVerification: true,
    challengeCreateFn: async (_authorization, { token }, answer) => {
      if (!TOKEN.test(token)) throw new Error('the authority sent an invalid challenge token')
      await writeFile(join(folder, token), answer, { mode: 0o644 })
    },
    challengeRemoveFn: async (_authorization, { token }) => {
      if (TOKEN.test(token)) await rm(join(folder, token), { force: true })
    },
  })
  return ordered.catch((cause: unknown) => {
    // acme-client throws a TypeError if the authority does not answer.
    if (cause instanceof TypeError) throw new Error(`${settings.directory} stopped answering`)
    throw new Error(`${settings.directory} issued no certificate`, { cause })
  })
}

async function accountKey(settings: AcmeSettings, create: () => Promise<Buffer>): Promise<Buffer> {
  const path = join(settings.account, 'account.pem')
  const stored = await readFile(path).catch(() => null)
  if (stored !== null) return stored
  await mkdir(settings.account, { recursive: true, mode: 0o700 })
  const created = await create()
  await writeFile(`${path}.new`, created, { mode: 0o600 })
  await rename(`${path}.new`, path)
  return created
}
