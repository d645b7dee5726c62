import type { Stats } from 'node:fs'
import { readdir, stat, statfs } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { ConfigProblem, ConfigWarning } from '../../core/config/index.ts'
import { knownChains } from '../../core/config/schema/index.ts'
import { checkCertificateFiles, isCertifiedName } from '../tls/index.ts'
import { checkComposeFiles } from './compose-files.ts'
import { placeOf } from './host-paths.ts'
import type { OperatorPlaces } from './host-paths.ts'
import type { Resolved, Values } from './resolved.ts'
import { checkSuperuserPassword } from './superuser.ts'
import { BUNDLED_POSTGRES } from './variables.ts'

/** Checks the memory, the processors, the folders and the disks of this machine against the settings. */
export async function checkPlaces(
  { values, given, profiles }: Resolved,
  places: OperatorPlaces,
): Promise<{ readonly problems: readonly ConfigProblem[]; readonly warnings: readonly ConfigWarning[] }> {
  const problems: ConfigProblem[] = [...checkMachine(values, given)]
  const warnings: ConfigWarning[] = []
  const refuse = (path: string, found: string, allowed: string): void => {
    problems.push({ file: 'environment', path, found, allowed })
  }
  const absent = await findAbsent('TLS_DIR', given, places)
  if (absent !== undefined) refuse('TLS_DIR', absent, 'an existing folder')
  if (values.TLS_MODE === 'files' && absent === undefined) {
    const folder =
      given.TLS_DIR === undefined || places.mounted === undefined
        ? places.certificateFiles
        : placeOf('TLS_DIR', given.TLS_DIR, places)
    const faults = await checkCertificateFiles(folder, values.TLS_DIR)
    problems.push(...faults)
    if (faults.length === 0 && !(await isCertifiedName(folder, values.DOMAIN)))
      warnings.push({
        file: 'environment',
        path: 'TLS_DIR',
        message: `the certificate is not valid for ${values.DOMAIN} (DOMAIN)`,
      })
  }
  const passwordFile = superuserPasswordFile(values, places)
  if (passwordFile !== undefined) {
    const shown = values.POSTGRES_SUPERUSER_PASSWORD_FILE
    problems.push(...(await checkSuperuserPassword(passwordFile, shown)))
  }
  if (values.BACKUP_HOOK !== '') problems.push(...(await checkHook(values.BACKUP_HOOK, places)))
  problems.push(...checkComposeFiles(given, places))
  const isScheduled = profiles.includes('backup')
  const folders: OperatorFolder[] = []
  if (values.DATA_LOCATION !== '' && values.POSTGRES_BUNDLED)
    folders.push(databaseFolder(values.DATA_LOCATION, places))
  if (given.BACKUP_DIR !== undefined) folders.push(backupFolder(given.BACKUP_DIR, places, isScheduled))
  else if (isScheduled && places.project !== undefined)
    folders.push({
      ...backupFolder(values.BACKUP_DIR, {}, isScheduled),
      folder: join(places.project, values.BACKUP_DIR),
    })
  for (const { problem, warning } of await Promise.all(folders.map((each) => checkFolder(each, values)))) {
    if (problem !== undefined) problems.push(problem)
    if (warning !== undefined) warnings.push(warning)
  }
  const [database, backups] = folders
  if (database !== undefined && backups !== undefined && (await isWithin(backups, database)))
    refuse(
      'BACKUP_DIR',
      `${JSON.stringify(backups.shown)} (the folder is inside DATA_LOCATION)`,
      'a folder outside DATA_LOCATION, so that the loss of one disk or folder never destroys both the database and the backups',
    )
  return { problems, warnings }
}

/** Minimum number of processors that Docker accepts for a container. */
const LEAST_PROCESSORS = 0.01

/** Problems of limits that are above the memory and the processors of the machine. */
function checkMachine(values: Values, given: Resolved['given']): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  // The settings of PostgreSQL are computed from PG_MEMORY, also from its default, so PG_MEMORY is always checked.
  // The memory of other containers is only a limit: a default above the memory of the machine is harmless.
  const amounts = [
    ...(values.POSTGRES_HOST === BUNDLED_POSTGRES ? (['PG_MEMORY'] as const) : []),
    ...(['FILLER_MEMORY', 'API_MEMORY'] as const).filter((name) => given[name] !== undefined),
  ]
  for (const path of amounts) {
    if (values[path] <= totalmem()) continue
    const found = JSON.stringify(given[path] ?? `${values[path] / 2 ** 30}g`)
    const allowed = `at most the memory of this machine, ${Math.floor(totalmem() / 2 ** 20)}m`
    problems.push({ file: 'environment', path, found, allowed })
  }
  const limits = ['POSTGRES_CPUS', 'FILLER_CPUS', 'API_CPUS', 'NGINX_CPUS', 'BACKUP_CPUS'] as const
  for (const path of limits) {
    const wanted = Number(values[path])
    if (wanted === 0 || (wanted >= LEAST_PROCESSORS && wanted <= cpus().length)) continue
    const allowed = `0 for all processors, or ${LEAST_PROCESSORS} to ${cpus().length}, the number of processors of this machine`
    problems.push({ file: 'environment', path, found: JSON.stringify(values[path]), allowed })
  }
  return problems
}

/**
 * Reason why the path of a variable is not a folder, with the value of the variable; undefined if it is a folder.
 * Docker cannot mount any other path as a folder.
 */
async function findAbsent(
  path: string,
  given: Resolved['given'],
  places: OperatorPlaces,
): Promise<string | undefined> {
  const shown = given[path]
  if (shown === undefined) return undefined
  const facts = await stat(placeOf(path, shown, places)).catch(() => undefined)
  if (facts?.isDirectory()) return undefined
  return `${JSON.stringify(shown)} (${facts ? 'the path is not a folder' : NOT_THERE})`
}

const NOT_THERE = 'the path does not exist'

/** Checks the program of BACKUP_HOOK. The service `backups` skips a program that its user may not execute. */
async function checkHook(shown: string, places: OperatorPlaces): Promise<ConfigProblem[]> {
  const facts = await stat(placeOf('BACKUP_HOOK', shown, places)).catch(() => undefined)
  const bit = facts?.uid === POSTGRES_USER ? 0o100 : facts?.gid === POSTGRES_USER ? 0o010 : 0o001
  if (facts?.isFile() && (facts.mode & bit) !== 0) return []
  const why = facts?.isFile()
    ? `the user with the number ${POSTGRES_USER} may not execute the file`
    : facts
      ? 'the path is not a file'
      : NOT_THERE
  const remedy = facts?.isFile() ? `: chmod 755 ${quoteForShell(shown)}` : ''
  const allowed = `a program that the user with the number ${POSTGRES_USER} may execute${remedy}`
  return [{ file: 'environment', path: 'BACKUP_HOOK', found: `${JSON.stringify(shown)} (${why})`, allowed }]
}

/** Whether the folder `inner` equals the folder `outer` or is inside `outer`. */
async function isWithin(inner: OperatorFolder, outer: OperatorFolder): Promise<boolean> {
  if (`${resolve(inner.shown)}/`.startsWith(`${resolve(outer.shown)}/`)) return true
  const [a, b] = await Promise.all([inner, outer].map(({ folder }) => stat(folder).catch(() => undefined)))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

/** The file that POSTGRES_SUPERUSER_PASSWORD_FILE names; undefined if the variable is not set. */
export function superuserPasswordFile(values: Values, places: OperatorPlaces): string | undefined {
  const own = values.POSTGRES_SUPERUSER_PASSWORD_FILE
  return own === '' ? undefined : placeOf('POSTGRES_SUPERUSER_PASSWORD_FILE', own, places)
}

/** Id of the user that runs the server in the image of PostgreSQL. */
const POSTGRES_USER = 999

/** A folder of the operator in which a service stores data that must not be lost. */
interface OperatorFolder {
  /** `path`: variable that names the folder. `shown`: value of the variable. */
  readonly path: string
  readonly shown: string
  /**
   * Path of the folder for this program, which differs from the path on the host if the program runs in a container.
   */
  readonly folder: string
  /** Whether the folder must belong to the user id of PostgreSQL's container. */
  readonly isOfPostgres: boolean
  /** Unsuitable file systems by the magic number of the kernel: name of the file system, and why it is unsuitable. */
  readonly unfit: Readonly<Record<number, string>>
  /** Whether a file of this name shows that a service has stored data in the folder. */
  readonly isData: (name: string) => boolean
  /** Whether a file of this name may be in the folder before a service has stored data there. */
  readonly isFitting: (name: string) => boolean
  /** Text that a warning about too little free space appends to the estimated size of the database. */
  readonly sizeNote: string
}

/** File systems that lose files or cannot store large files. */
const losingFileSystems: Readonly<Record<number, string>> = {
  0x01021994: 'tmpfs, which is memory',
  0x858458f6: 'ramfs, which is memory',
  0x4d44: 'FAT, which has no owners and no files above 4 GB',
  0x794c7630: 'overlayfs, whose files are lost when the container is removed',
}

/** File systems without the file owners, the locks or the order of writes that a database needs. */
const unsafeFileSystems: Readonly<Record<number, string>> = {
  0x2011bab0: 'exFAT, which has no owners',
  0x517b: 'SMB, on which PostgreSQL is not safe',
  0xff534d42: 'CIFS, on which PostgreSQL is not safe',
  0xfe534d42: 'SMB, on which PostgreSQL is not safe',
  0x6969: 'NFS, on which PostgreSQL is not safe without special options',
  0x01021997: '9P, on which PostgreSQL is not safe',
}

function databaseFolder(shown: string, places: Pick<OperatorPlaces, 'mounted'>): OperatorFolder {
  return {
    path: 'DATA_LOCATION',
    shown,
    folder: placeOf('DATA_LOCATION', shown, places),
    isOfPostgres: true,
    unfit: { ...losingFileSystems, ...unsafeFileSystems },
    isData: (name) => name === 'pgdata',
    isFitting: (name) => name === 'lost+found' || name.startsWith('.'),
    sizeNote: '',
  }
}

/**
 * Describes the folder of the backups.
 * @param isScheduled whether the service `backups` writes the folder, as the user of PostgreSQL. `scripts/backup`
 * writes as the owner of the folder.
 */
function backupFolder(
  shown: string,
  places: Pick<OperatorPlaces, 'mounted'>,
  isScheduled: boolean,
): OperatorFolder {
  return {
    path: 'BACKUP_DIR',
    shown,
    folder: placeOf('BACKUP_DIR', shown, places),
    isOfPostgres: isScheduled,
    unfit: losingFileSystems,
    // In a folder with backups, `backup.sh` compares the free space with the size of the newest backup.
    isData: (name) => !name.startsWith('.'),
    isFitting: () => true,
    sizeNote: '; one backup is smaller, but several backups are retained',
  }
}

const quoteForShell = (path: string): string =>
  /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`

const GB = 1e9
/** Permission bits of the owner: read, write, enter. */
const OWNER_BITS = 0o700
const MODE_BITS = 0o777
const FOREIGN_SHOWN = 4

/**
 * Advice, with a shell command that creates a folder with the owner that PostgreSQL needs. If the given folder is a
 * system folder, or has content of another owner, the command creates a subfolder instead.
 */
function adviceFor(shown: string, facts: Stats | undefined, listed: readonly string[] | undefined): string {
  const isForeign =
    facts?.isDirectory() === true && facts.uid !== POSTGRES_USER && !listed?.includes('pgdata')
  const isTaken = listed === undefined || listed.some((name) => name !== 'lost+found')
  const isOfSystem = dirname(resolve(shown)) === '/'
  const wanted = isForeign && (isTaken || isOfSystem) ? join(shown, 'pronghorn') : shown
  const owner = `-o ${POSTGRES_USER} -g ${POSTGRES_USER}`
  return `a folder of the user with the number ${POSTGRES_USER}: sudo install -d ${owner} -m 755 ${quoteForShell(wanted)}`
}

async function checkFolder(
  { path, shown, folder, isOfPostgres, unfit, isData, isFitting, sizeNote }: OperatorFolder,
  values: Values,
): Promise<{ readonly problem?: ConfigProblem; readonly warning?: ConfigWarning }> {
  const quoted = JSON.stringify(shown)
  const refuse = (why: string, allowed: string) => ({
    problem: { file: 'environment', path, found: `${quoted} (${why})`, allowed },
  })
  const [facts, disk, listed] = await Promise.all([
    stat(folder).catch(() => undefined),
    statfs(folder).catch(() => undefined),
    readdir(folder).catch(() => undefined),
  ])
  const made = isOfPostgres ? adviceFor(shown, facts, listed) : 'a folder'
  if (facts === undefined) return refuse(NOT_THERE, made)
  if (!facts.isDirectory() || disk === undefined) return refuse('the path is not a folder', made)
  if (isOfPostgres && facts.uid !== POSTGRES_USER)
    return refuse(`the folder belongs to the user with the number ${facts.uid}`, made)
  if ((facts.mode & OWNER_BITS) !== OWNER_BITS)
    return refuse(
      `the mode ${(facts.mode & MODE_BITS).toString(8).padStart(3, '0')} denies the owner a right on the folder`,
      made,
    )
  // A folder that cannot be listed counts as empty.
  const names = listed ?? []
  const foreign = names.filter((name) => !isFitting(name))
  if (foreign.length > 0 && !names.some(isData))
    return refuse(
      `the folder is not empty: it contains ${foreign.slice(0, FOREIGN_SHOWN).join(', ')}`,
      'an empty folder',
    )
  // File system numbers are unsigned, but Node.js may return them as signed.
  const kind = unfit[disk.type >>> 0]
  if (kind !== undefined)
    return refuse(
      `the folder is on ${kind}`,
      'a folder on a local disk, with a file system such as ext4 or XFS',
    )
  const needed = knownChains.find(({ id }) => id === values.CHAIN_ID.toLowerCase())?.diskGb ?? 0
  const free = Math.floor((disk.bavail * disk.bsize) / GB)
  // The estimate is for an empty database. If the folder has data, `doctor` reports how long the free space lasts.
  if (free >= needed || names.some(isData)) return {}
  const message = `${quoted} has ${free} GB free; docs/sizing.md estimates ${needed} GB for the database of ${values.CHAIN_NAME}${sizeNote}`
  return { warning: { file: 'environment', path, message } }
}
