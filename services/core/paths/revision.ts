import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packageRoot } from './package-root.ts'

/** Number of characters of a revision that are shown. */
const SHOWN = 7
const REVISION = /^[0-9a-f]{7,64}$/

/**
 * First characters of the revision from which the package was built: the content of the file `REVISION` of an
 * image, else the commit that is checked out. Undefined without both.
 */
export function readRevision(root: string = packageRoot): string | undefined {
  const revision = readText(join(root, 'REVISION')) ?? readCheckedOut(root)
  return revision !== undefined && REVISION.test(revision) ? revision.slice(0, SHOWN) : undefined
}

function readCheckedOut(root: string): string | undefined {
  const folder = findRepository(join(root, '.git'))
  const head = folder === undefined ? undefined : readText(join(folder, 'HEAD'))
  if (folder === undefined || head === undefined) return undefined
  const branch = /^ref: (.+)$/.exec(head)?.[1]
  if (branch === undefined) return head
  // A linked working tree (`git worktree`) stores its branches in the repository that it belongs to.
  const shared = readText(join(folder, 'commondir'))
  const folders = shared === undefined ? [folder] : [folder, resolve(folder, shared)]
  for (const each of folders) {
    const found = readText(join(each, branch)) ?? findPacked(readText(join(each, 'packed-refs')), branch)
    if (found !== undefined) return found
  }
  return undefined
}

/** The git folder of a working tree: the folder `.git`, or the folder that a file `.git` points to. */
function findRepository(path: string): string | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  const target = /^gitdir: (.+)$/.exec(readText(path) ?? '')?.[1]
  return target === undefined ? undefined : resolve(path, '..', target)
}

function findPacked(list: string | undefined, branch: string): string | undefined {
  const line = list?.split('\n').find((each) => each.endsWith(` ${branch}`))
  return line?.split(' ')[0]
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
