import { readFile } from 'node:fs/promises'
import type { ConfigProblem } from '../../core/config/index.ts'
import { CONTAINER_FOLDER } from '../../core/paths/index.ts'
import { findVariable, settingVariables } from '../../core/config/environment/index.ts'
import { findPairFault, hasCertificates, isPrivateKey } from '../tls/index.ts'
import { placeOf } from './host-paths.ts'
import type { OperatorPlaces } from './host-paths.ts'
import { isPassword } from './superuser.ts'
import { isHostPath, PATH_ALLOWED } from './variables.ts'

interface FileSetting {
  /** Variable that contains the path of the file. The variable is named after a key of the configuration files. */
  readonly variable: string
  /** Name under which containers see a copy of the file. */
  readonly name: string
  readonly holds: 'a certificate' | 'a private key' | 'a password'
}

/** Settings that name a file of the host. */
const fileSettings: readonly FileSetting[] = [
  { variable: 'SQLDB_SSL_CA_FILE', name: 'postgres-ca.pem', holds: 'a certificate' },
  { variable: 'SQLDB_SSL_CERT_FILE', name: 'postgres-client.pem', holds: 'a certificate' },
  { variable: 'SQLDB_SSL_KEY_FILE', name: 'postgres-client.key', holds: 'a private key' },
  { variable: 'SQLDB_PASSWORD_FILE', name: 'database-password', holds: 'a password' },
  { variable: 'KVSTORE_TLS_CA_FILE', name: 'redis-ca.pem', holds: 'a certificate' },
  { variable: 'KVSTORE_PASSWORD_FILE', name: 'redis-password', holds: 'a password' },
]

/** Maximum size of a file: four times the certificates of all public authorities. */
const MAX_CHARACTERS = 1_000_000

const isContent: Readonly<Record<FileSetting['holds'], (text: string) => boolean>> = {
  'a certificate': hasCertificates,
  'a private key': isPrivateKey,
  'a password': (text) => isPassword(text.replace(/\r?\n$/, '')),
}

/** A client certificate and its key, by the names of their variables. */
const pair = { certificate: 'SQLDB_SSL_CERT_FILE', key: 'SQLDB_SSL_KEY_FILE' } as const

type Given = Readonly<Record<string, string>>

/** Texts of the files that an operator names in settings, by the file name in containers. */
export interface OperatorFiles {
  readonly texts: ReadonlyMap<string, string>
  readonly problems: readonly ConfigProblem[]
}

/** Reads the files that settings name. */
export async function readOperatorFiles(
  given: Given,
  places: Pick<OperatorPlaces, 'mounted'>,
): Promise<OperatorFiles> {
  const texts = new Map<string, string>()
  const problems: ConfigProblem[] = []
  for (const { variable, name, holds, found } of listGiven(given)) {
    const refuse = (why: string): void => {
      const shown = `${JSON.stringify(found.text)} (${why})`
      const allowed = `a file with ${holds}, readable by the user with the number 1000`
      problems.push({ file: 'environment', path: found.name, found: shown, allowed })
    }
    if (!isHostPath(found.text)) {
      const shown = JSON.stringify(found.text)
      problems.push({ file: 'environment', path: found.name, found: shown, allowed: PATH_ALLOWED })
      continue
    }
    try {
      const text = await readFile(placeOf(variable, found.text, places), 'utf8')
      if (text === '') refuse('the file is empty')
      else if (text.length > MAX_CHARACTERS || !isContent[holds](text))
        refuse(`the file does not contain ${holds}`)
      else texts.set(name, text)
    } catch (error) {
      refuse(`the file cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}`)
    }
  }
  problems.push(...checkPair(given, texts))
  return { texts, problems }
}

/** Problems of a certificate and a key that do not belong together. */
function checkPair(given: Given, texts: ReadonlyMap<string, string>): ConfigProblem[] {
  const files = listGiven(given)
  const certificate = files.find(({ variable }) => variable === pair.certificate)
  const key = files.find(({ variable }) => variable === pair.key)
  const [chain, secret] = [certificate, key].map((file) => file && texts.get(file.name))
  if (!certificate || !key || chain === undefined || secret === undefined) return []
  const fault = findPairFault(chain, secret)
  if (fault === undefined || fault === 'unreadable') return []
  const [file, why, allowed] =
    fault === 'another key'
      ? [key, 'the file contains the key of another certificate', `the key of ${certificate.found.name}`]
      : [certificate, `the certificate expired on ${fault.endedOn}`, 'a certificate that is valid']
  const found = `${JSON.stringify(file.found.text)} (${why})`
  return [{ file: 'environment', path: file.found.name, found, allowed }]
}

/** The given variables, with the path of each host file replaced by the path in the containers. */
export function withContainerPaths(given: Given): Given {
  return {
    ...given,
    ...Object.fromEntries(
      listGiven(given).map(({ name, found }) => [found.name, `${CONTAINER_FOLDER}/${name}`]),
    ),
  }
}

function listGiven(given: Given) {
  return fileSettings.flatMap((file) => {
    const setting = settingVariables.find(({ name }) => name === file.variable)
    const found = setting && findVariable(setting, given)
    return found === undefined ? [] : [{ ...file, found }]
  })
}
