import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from 'acme-client'
import { certificateFiles, installCertificate, isGood } from '../render/index.ts'

/** What an ACME authority is asked with, and where things go. */
export interface AcmeSettings {
  /** Directory of the authority. */
  readonly directory: string
  readonly email: string
  readonly domain: string
  /** Folder of the certificate. */
  readonly certificates: string
  /** Folder that the proxy serves below `/.well-known/acme-challenge/`. */
  readonly challenges: string
  /** Folder of the account with the authority. */
  readonly account: string
}

const ISSUER = 'issued-by-acme'
const CHALLENGES = '.well-known/acme-challenge'
/** A token is a file name: only what RFC 8555 allows. */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/

/**
 * Sees to it that the certificate is one of the authority's, for the domain, with a month left.
 *
 * @returns whether a new one was issued.
 * @throws Error of the ACME client, naming what the authority said.
 */
export async function ensureIssued(settings: AcmeSettings): Promise<boolean> {
  const stored = await readFile(join(settings.certificates, certificateFiles.chain), 'utf8').catch(() => '')
  const issued = await readFile(join(settings.account, ISSUER), 'utf8').catch(() => '')
  if (issued === stored && isGood(stored, settings.domain)) return false
  const acme = await import('acme-client')
  const client = new acme.Client({
    directoryUrl: settings.directory,
    accountKey: await accountKey(settings, () => acme.crypto.createPrivateEcdsaKey()),
  })
  const [key, csr] = await acme.crypto.createCsr({ commonName: settings.domain, altNames: [settings.domain] })
  const chain = await order(client, csr, settings)
  await installCertificate(settings.certificates, chain, key.toString())
  await writeFile(join(settings.account, ISSUER), chain, { mode: 0o600 })
  return true
}

async function order(client: Client, csr: Buffer, settings: AcmeSettings): Promise<string> {
  const folder = join(settings.challenges, CHALLENGES)
  await mkdir(folder, { recursive: true })
  return client.auto({
    csr,
    email: settings.email,
    termsOfServiceAgreed: true,
    challengePriority: ['http-01'],
    // The authority looks from outside; from here the name may lead elsewhere.
    skipChallengeVerification: true,
    challengeCreateFn: async (_authorization, { token }, answer) => {
      if (!TOKEN.test(token)) throw new Error('the authority sent a token that is none')
      await writeFile(join(folder, token), answer, { mode: 0o644 })
    },
    challengeRemoveFn: async (_authorization, { token }) => {
      if (TOKEN.test(token)) await rm(join(folder, token), { force: true })
    },
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
