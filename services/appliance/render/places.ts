import { stat, readdir, statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import type { ConfigProblem, ConfigWarning } from '../../core/config/index.ts'
import { knownChains } from '../../core/config/schema/index.ts'
import { checkCertificateFiles } from '../tls/index.ts'
import type { Values } from './resolve.ts'
import { checkSuperuserPassword } from './superuser.ts'
import { BUNDLED_POSTGRES } from './variables.ts'

/** Where `render` finds the operator's files and disks. */
export interface OperatorPlaces {
  /** The operator's certificate, when `TLS_MODE` is `files`. */
  readonly certificateFiles: string
  /** Where `POSTGRES_SUPERUSER_PASSWORD_FILE` is mounted; undefined: at its own path. */
  readonly superuserPasswordFile?: string | undefined
  /** Where `DATA_LOCATION` is mounted; undefined: at its own path. */
  readonly databaseFolder?: string | undefined
}

/** Checks the memory, the folders and the disks of this machine against the settings. */
export async function checkPlaces(
  values: Values,
  places: OperatorPlaces,
): Promise<{ readonly problems: readonly ConfigProblem[]; readonly warnings: readonly ConfigWarning[] }> {
  const problems: ConfigProblem[] = []
  const warnings: ConfigWarning[] = []
  if (values.POSTGRES_HOST === BUNDLED_POSTGRES && values.PG_MEMORY > totalmem()) {
    const found = `${Math.floor(values.PG_MEMORY / 2 ** 20)} MiB`
    const allowed = `at most what this machine has, ${Math.floor(totalmem() / 2 ** 20)} MiB`
    problems.push({ file: 'environment', path: 'PG_MEMORY', found, allowed })
  }
  if (values.TLS_MODE === 'files') {
    problems.push(...(await checkCertificateFiles(places.certificateFiles, values.TLS_DIR)))
  }
  const passwordFile = superuserPasswordFile(values, places)
  if (passwordFile !== undefined) {
    const shown = values.POSTGRES_SUPERUSER_PASSWORD_FILE
    problems.push(...(await checkSuperuserPassword(passwordFile, shown)))
  }
  if (values.DATA_LOCATION !== '' && values.POSTGRES_BUNDLED) {
    const folder = places.databaseFolder ?? values.DATA_LOCATION
    const found = await checkDatabaseFolder(folder, values)
    if (found.problem !== undefined) problems.push(found.problem)
    if (found.warning !== undefined) warnings.push(found.warning)
  }
  return { problems, warnings }
}

/** The file with the password of the superuser; undefined where there is none. */
export function superuserPasswordFile(values: Values, places: OperatorPlaces): string | undefined {
  const own = values.POSTGRES_SUPERUSER_PASSWORD_FILE
  return own === '' ? undefined : (places.superuserPasswordFile ?? own)
}

/** User of the image of PostgreSQL. */
const POSTGRES_USER = 999

/** Kinds of file systems that lose data, or that have no owners or no locks, by the number that the kernel gives them. */
const unfitFileSystems: Readonly<Record<number, string>> = {
  0x01021994: 'tmpfs, which is memory',
  0x858458f6: 'ramfs, which is memory',
  0x4d44: 'FAT, which has no owners',
  0x2011bab0: 'exFAT, which has no owners',
  0x794c7630: 'overlayfs, which a container loses when it is removed',
  0x517b: 'SMB, on which PostgreSQL is not safe',
  0xff534d42: 'CIFS, on which PostgreSQL is not safe',
  0xfe534d42: 'SMB, on which PostgreSQL is not safe',
  0x6969: 'NFS, on which PostgreSQL is not safe without special options',
  0x01021997: '9P, on which PostgreSQL is not safe',
}

const GB = 1e9

async function checkDatabaseFolder(
  folder: string,
  values: Values,
): Promise<{ readonly problem?: ConfigProblem; readonly warning?: ConfigWarning }> {
  const path = 'DATA_LOCATION'
  const shown = JSON.stringify(values.DATA_LOCATION)
  const refuse = (why: string, allowed: string) => ({
    problem: { file: 'environment', path, found: `${shown}, ${why}`, allowed },
  })
  const made = `a folder of the user with the number ${POSTGRES_USER}: sudo install -d -o ${POSTGRES_USER} -g ${POSTGRES_USER} -m 755 ${values.DATA_LOCATION}`
  const [facts, disk] = await Promise.all([
    stat(folder).catch(() => undefined),
    statfs(folder).catch(() => undefined),
  ])
  if (!facts?.isDirectory() || disk === undefined) return refuse('which is no folder', made)
  if (facts.uid !== POSTGRES_USER)
    return refuse(`which belongs to the user with the number ${facts.uid}`, made)
  // Numbers of file systems are unsigned, and may be given as signed ones.
  const unfit = unfitFileSystems[disk.type >>> 0]
  if (unfit !== undefined)
    return refuse(`which is on ${unfit}`, 'a folder on a local disk, with a file system such as ext4 or XFS')
  const needed = knownChains.find(({ id }) => id === values.CHAIN_ID.toLowerCase())?.diskGb ?? 0
  const free = Math.floor((disk.bavail * disk.bsize) / GB)
  // The estimate is of a new database. For one that exists, `doctor` says how long the free space lasts.
  if (free >= needed || (await holdsData(folder))) return {}
  const message = `${shown} has ${free} GB free; docs/sizing.md estimates ${needed} GB for ${values.CHAIN_NAME}`
  return { warning: { file: 'environment', path, message } }
}

/** Whether there is a database already. A folder that cannot be listed counts as empty: only a warning follows from that. */
function holdsData(folder: string): Promise<boolean> {
  return readdir(folder).then(
    (names) => names.includes('pgdata'),
    () => false,
  )
}
