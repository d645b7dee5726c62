import { accessSync, constants, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const FOLDER = '/dev/shm'
const LEAST_FREE_BYTES = 4 * 1024 ** 3

/**
 * Folder for temporary files. In memory if possible, because copying test databases is many times faster there than on
 * a disk. The usual folder if memory has too little space or does not allow running programs.
 */
export function temporaryFolder(): string {
  return process.env.TMPDIR ?? (isUsable() ? FOLDER : tmpdir())
}

function isUsable(): boolean {
  try {
    accessSync(FOLDER, constants.W_OK)
    const { bavail, bsize } = statfsSync(FOLDER)
    if (bavail * bsize < LEAST_FREE_BYTES) return false
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    const options = mounts.findLast((line) => line.split(' ')[1] === FOLDER)?.split(' ')[3] ?? 'noexec'
    return !options.split(',').includes('noexec')
  } catch {
    return false
  }
}
