import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const BALLAST = 'ballast'
const pieces = [1024 * 1024, 4096]

/** A tmpfs for one test. The test can fill it with a ballast file. */
export class SmallDisk {
  readonly #path: string
  #isMounted = false

  private constructor(path: string) {
    this.#path = path
  }

  /**
   * Mounts the file system on a folder. Without the right to mount, the folder stays as it is and `isSmall` is false.
   */
  static mount(path: string, megabytes: number): SmallDisk {
    const disk = new SmallDisk(path)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', path], {
        stdio: 'ignore',
      })
      disk.#isMounted = true
    } catch {
      // An ordinary user, or a container without the right.
    }
    return disk
  }

  get isSmall(): boolean {
    return this.#isMounted
  }

  fill(): void {
    const file = openSync(join(this.#path, BALLAST), 'w')
    for (const bytes of pieces) {
      const piece = Buffer.alloc(bytes)
      try {
        for (;;) writeSync(file, piece)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
    closeSync(file)
  }

  free(): void {
    rmSync(join(this.#path, BALLAST), { force: true })
  }

  unmount(): void {
    if (this.#isMounted) execFileSync('umount', [this.#path])
  }
}
