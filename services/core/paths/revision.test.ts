import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readRevision } from './revision.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pronghorn-revision-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

/** Writes files into the working tree of the test, including files of its `.git` folder. */
function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), `${text}\n`)
  }
}

it('in a container image, the revision of the program is read from a file', () => {
  expect(readRevision(folder)).toBeUndefined()
  writeFileSync(join(folder, 'REVISION'), '0123456789abcdef0123456789abcdef01234567\n')
  expect(readRevision(folder)).toBe('0123456')
  writeFileSync(join(folder, 'REVISION'), 'latest\n')
  expect(readRevision(folder)).toBeUndefined()
})

const [one, two, three] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string]

it('the revision is the checked-out commit, for every storage format of the repository', () => {
  write({ '.git/HEAD': 'ref: refs/heads/main', '.git/packed-refs': `# pack-refs\n${one} refs/heads/main` })
  expect(readRevision(folder)).toBe('aaaaaaa')
  write({ '.git/refs/heads/main': two })
  expect(readRevision(folder)).toBe('bbbbbbb')
  write({ '.git/HEAD': three })
  expect(readRevision(folder)).toBe('ccccccc')
  write({ '.git/HEAD': 'ref: refs/heads/none' })
  expect(readRevision(folder)).toBeUndefined()
})

it('the revision is the checked-out commit of an additional working tree', () => {
  write({
    '.git/HEAD': three,
    '.git/refs/heads/side': two,
    '.git/worktrees/side/HEAD': 'ref: refs/heads/side',
    '.git/worktrees/side/commondir': '../..',
    'side/.git': `gitdir: ${join(folder, '.git/worktrees/side')}`,
  })
  expect(readRevision(join(folder, 'side'))).toBe('bbbbbbb')
})
