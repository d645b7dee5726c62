import { stat, readdir, statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import type { ConfigProblem, ConfigWarning } from '../../core/config/index.ts'
import { knownChains } from '../../core/config/schema/index.ts'
import { checkCertificateFiles } from '../tls/index.ts'
import type { Resolved, Values } from './resolve.ts'
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
  /** Where `BACKUP_DIR` is mounted; undefined: at its own path. */
  readonly backupFolder?: string | undefined
}

/** Checks the memory, the folders and the disks of this machine against the settings. */
export async function checkPlaces(
  { values, given, profiles }: Resolved,
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
  const folders: OperatorFolder[] = []
  if (values.DATA_LOCATION !== '' && values.POSTGRES_BUNDLED)
    folders.push(databaseFolder(values.DATA_LOCATION, places))
  if (given.BACKUP_DIR !== undefined)
    folders.push(backupFolder(given.BACKUP_DIR, places, profiles.includes('backup')))
  for (const { problem, warning } of await Promise.all(folders.map((each) => checkFolder(each, values)))) {
    if (problem !== undefined) problems.push(problem)
    if (warning !== undefined) warnings.push(warning)
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

/** A folder of the operator in which a service stores what must not be lost. */
interface OperatorFolder {
  /** The variable that names it, and its value. */
  readonly path: string
  readonly shown: string
  /** Where it is read. */
  readonly folder: string
  /** Whether it has to belong to the user of PostgreSQL; else it may be missing, and is made when it is needed. */
  readonly isOfPostgres: boolean
  /** Kinds of file systems that do not fit, by the number that the kernel gives them. */
  readonly unfit: Readonly<Record<number, string>>
  /** Whether a name in it shows that it holds data. */
  readonly isData: (name: string) => boolean
  /** Sentence after the estimate of the database's size. */
  readonly sizeNote: string
}

/** Kinds of file systems that lose files, or cannot hold large ones. */
const losingFileSystems: Readonly<Record<number, string>> = {
  0x01021994: 'tmpfs, which is memory',
  0x858458f6: 'ramfs, which is memory',
  0x4d44: 'FAT, which has no owners and no files above 4 GB',
  0x794c7630: 'overlayfs, which a container loses when it is removed',
}

/** Kinds of file systems without the owners, the locks or the order of writes that a database needs. */
const unsafeFileSystems: Readonly<Record<number, string>> = {
  0x2011bab0: 'exFAT, which has no owners',
  0x517b: 'SMB, on which PostgreSQL is not safe',
  0xff534d42: 'CIFS, on which PostgreSQL is not safe',
  0xfe534d42: 'SMB, on which PostgreSQL is not safe',
  0x6969: 'NFS, on which PostgreSQL is not safe without special options',
  0x01021997: '9P, on which PostgreSQL is not safe',
}

function databaseFolder(shown: string, places: OperatorPlaces): OperatorFolder {
  return {
    path: 'DATA_LOCATION',
    shown,
    folder: places.databaseFolder ?? shown,
    isOfPostgres: true,
    unfit: { ...losingFileSystems, ...unsafeFileSystems },
    isData: (name) => name === 'pgdata',
    sizeNote: '',
  }
}

/** @param isScheduled the service `backups` writes there, as the user of PostgreSQL; `scripts/backup` writes as the owner. */
function backupFolder(shown: string, places: OperatorPlaces, isScheduled: boolean): OperatorFolder {
  return {
    path: 'BACKUP_DIR',
    shown,
    folder: places.backupFolder ?? shown,
    isOfPostgres: isScheduled,
    unfit: losingFileSystems,
    // `backup.sh` compares the free space with the newest backup.
    isData: (name) => !name.startsWith('.'),
    sizeNote: ': a backup is smaller, and several are retained',
  }
}

const GB = 1e9

async function checkFolder(
  { path, shown, folder, isOfPostgres, unfit, isData, sizeNote }: OperatorFolder,
  values: Values,
): Promise<{ readonly problem?: ConfigProblem; readonly warning?: ConfigWarning }> {
  const quoted = JSON.stringify(shown)
  const refuse = (why: string, allowed: string) => ({
    problem: { file: 'environment', path, found: `${quoted}, ${why}`, allowed },
  })
  const made = isOfPostgres
    ? `a folder of the user with the number ${POSTGRES_USER}: sudo install -d -o ${POSTGRES_USER} -g ${POSTGRES_USER} -m 755 ${shown}`
    : 'a folder'
  const [facts, disk] = await Promise.all([
    stat(folder).catch(() => undefined),
    statfs(folder).catch(() => undefined),
  ])
  if (!isOfPostgres && facts === undefined) return {}
  if (!facts?.isDirectory() || disk === undefined) return refuse('which is no folder', made)
  if (isOfPostgres && facts.uid !== POSTGRES_USER)
    return refuse(`which belongs to the user with the number ${facts.uid}`, made)
  // Numbers of file systems are unsigned, and may be given as signed ones.
  const kind = unfit[disk.type >>> 0]
  if (kind !== undefined)
    return refuse(`which is on ${kind}`, 'a folder on a local disk, with a file system such as ext4 or XFS')
  const needed = knownChains.find(({ id }) => id === values.CHAIN_ID.toLowerCase())?.diskGb ?? 0
  const free = Math.floor((disk.bavail * disk.bsize) / GB)
  // The estimate is of a new database. For one that exists, `doctor` says how long the free space lasts.
  if (free >= needed || (await holdsData(folder, isData))) return {}
  const message = `${quoted} has ${free} GB free; docs/sizing.md estimates ${needed} GB for the database of ${values.CHAIN_NAME}${sizeNote}`
  return { warning: { file: 'environment', path, message } }
}

/** Whether there is data already. A folder that cannot be listed counts as empty: only a warning follows from that. */
function holdsData(folder: string, isData: (name: string) => boolean): Promise<boolean> {
  return readdir(folder).then(
    (names) => names.some(isData),
    () => false,
  )
}
