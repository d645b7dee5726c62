import { readFile } from 'node:fs/promises'
import type { ConfigProblem } from '../../core/config/index.ts'
import { CONTAINER_FOLDER } from '../../core/paths/index.ts'
import { findVariable, settingVariables } from '../../core/config/environment/index.ts'
import { placeOf } from './host-paths.ts'
import type { OperatorPlaces } from './host-paths.ts'
import { isHostPath, PATH_ALLOWED } from './variables.ts'

interface FileSetting {
  /** Variable of the setting, by the naming rule. */
  readonly variable: string
  /** File name in containers. */
  readonly name: string
  readonly holds: 'a certificate' | 'a private key' | 'a password'
}

/** Settings that name a file of the host. Containers have its content under a name of their own. */
const fileSettings: readonly FileSetting[] = [
  { variable: 'SQLDB_SSL_CA_FILE', name: 'postgres-ca.pem', holds: 'a certificate' },
  { variable: 'SQLDB_SSL_CERT_FILE', name: 'postgres-client.pem', holds: 'a certificate' },
  { variable: 'SQLDB_SSL_KEY_FILE', name: 'postgres-client.key', holds: 'a private key' },
  { variable: 'SQLDB_PASSWORD_FILE', name: 'database-password', holds: 'a password' },
  { variable: 'KVSTORE_TLS_CA_FILE', name: 'redis-ca.pem', holds: 'a certificate' },
  { variable: 'KVSTORE_PASSWORD_FILE', name: 'redis-password', holds: 'a password' },
]

/** Longest content; the certificates of all public authorities have a quarter of it. */
const MAX_CHARACTERS = 1_000_000

const patterns: Readonly<Record<FileSetting['holds'], RegExp>> = {
  'a certificate': /-----BEGIN (?:TRUSTED )?CERTIFICATE-----/,
  'a private key': /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/,
  'a password': /^[^\0\r\n]{1,1000}\r?\n?$/,
}

type Given = Readonly<Record<string, string>>

/** Files of the operator by the name that containers know. */
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
      const shown = `${JSON.stringify(found.text)}, ${why}`
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
      if (text === '') refuse('which is empty')
      else if (text.length > MAX_CHARACTERS || !patterns[holds].test(text)) refuse(`which is not ${holds}`)
      else texts.set(name, text)
    } catch (error) {
      refuse(`which cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unreadable'})`)
    }
  }
  return { texts, problems }
}

/** The given variables, where every path of a host's file is replaced by its path in the containers. */
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
