import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import type { DumpSource } from './dump-source.ts'

/** Reads a dump from a folder. Symbolic links inside the folder are refused. */
export function openFolderSource(folder: string): DumpSource {
  return {
    shown: folder,
    async read(name, maxBytes) {
      const path = join(folder, name)
      try {
        return await readRegular(join(await realpath(folder), name), path, maxBytes)
      } catch (cause) {
        if (cause instanceof FatalError) throw cause
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw new RetryableError('DUMP_UNREACHABLE', `${path} cannot be read`, { cause })
      }
    },
  }
}

/** @param expected absolute path of the file if no part of `path` inside the folder is a symbolic link. */
async function readRegular(expected: string, path: string, maxBytes: number): Promise<Buffer> {
  if ((await realpath(path)) !== expected)
    throw new FatalError('DUMP_DAMAGED', `${path} is a symbolic link, or a folder of its path is one`)
  // O_NONBLOCK: opening a named pipe would otherwise wait until another program writes into the pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
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
