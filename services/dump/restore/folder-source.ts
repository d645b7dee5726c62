import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import type { DumpSource } from './dump-source.ts'

/** Reads a dump from a folder. Symbolic links inside the folder are refused. */
export function openFolderSource(folder: string): DumpSource {
  return {
    shown: folder,
    async read(name, maxBytes) {
      const path = join(folder, name)
      try {
        return await readRegular(folder, path, maxBytes)
      } catch (cause) {
        if (cause instanceof FatalError) throw cause
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw new RetryableError('DUMP_UNREACHABLE', `${path} cannot be read`, { cause })
      }
    },
  }
}

async function readRegular(folder: string, path: string, maxBytes: number): Promise<Buffer> {
  const [root, real] = [await realpath(folder), await realpath(path)]
  if (real !== join(root, path.slice(join(folder, sep).length)))
    throw new FatalError('DUMP_DAMAGED', `${path} is a symbolic link, or a folder of its path is one`)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { size } = await file.stat().then((found) => {
      if (found.isFile()) return found
      throw new FatalError('DUMP_DAMAGED', `${path} is not a regular file`)
    })
    if (size > maxBytes)
      throw new FatalError('DUMP_DAMAGED', `${path} has ${size} bytes, the manifest allows ${maxBytes}`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}
