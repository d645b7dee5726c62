import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkMigrations, listMigrations, parseLanded } from '../../scripts/migrations/migrations.ts'

it('no migration that has landed was changed', () => {
  const { problems } = checkMigrations()
  expect(problems).toEqual([])
})

describe('landed migrations of a repository', () => {
  let root: string
  let folder: string
  const git = (...args: string[]): void => {
    const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false']
    execFileSync('git', ['-C', root, ...author, '-c', 'core.hooksPath=/dev/null', ...args], {
      stdio: 'ignore',
    })
  }
  const list = (): string => readFileSync(join(folder, 'landed.sha256'), 'utf8')

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'pronghorn-migrations-'))
    folder = join(root, 'services/core/database/migrations')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, '0001_one.sql'), 'SELECT 1;\n')
    writeFileSync(join(folder, '0002_two.sql'), 'SELECT 2;\n')
    git('init', '--quiet')
    expect(listMigrations(root)).toEqual(['0001_one.sql', '0002_two.sql'])
    git('add', '.')
    git('commit', '--quiet', '-m', 'two migrations')
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it('an edited migration is named, and cannot be listed again', () => {
    appendFileSync(join(folder, '0002_two.sql'), '-- a comment\n')
    const before = list()
    expect(checkMigrations(root).problems).toEqual([
      expect.stringMatching(/^0002_two\.sql has landed and was changed/),
    ])
    expect(() => listMigrations(root)).toThrow(/0002_two\.sql has landed and was changed/)
    expect(list()).toBe(before)
  })

  it('a removed migration is named', () => {
    rmSync(join(folder, '0001_one.sql'))
    expect(checkMigrations(root).problems).toEqual([
      expect.stringMatching(/^0001_one\.sql has landed and is missing/),
    ])
  })

  it('an entry of the list that was edited with its migration is found in the history', () => {
    appendFileSync(join(folder, '0001_one.sql'), '-- a comment\n')
    rmSync(join(folder, 'landed.sha256'))
    expect(() => listMigrations(root)).toThrow(/entry of 0001_one\.sql.*was removed/)
    const sum = execFileSync('sha256sum', [join(folder, '0001_one.sql')], { encoding: 'utf8' }).slice(0, 64)
    writeFileSync(join(folder, 'landed.sha256'), `${sum}  0001_one.sql\n`)
    git('add', '.')
    git('commit', '--quiet', '-m', 'edited')
    const { problems, commits } = checkMigrations(root)
    expect(commits).toBe(2)
    expect(problems).toEqual([
      expect.stringMatching(/entry of 0001_one\.sql.*was changed/),
      expect.stringMatching(/entry of 0002_two\.sql.*was removed/),
    ])
  })

  it('folded migrations may leave, with the checksums that they had', () => {
    const entries = list()
    for (const file of ['0001_one.sql', '0002_two.sql', 'landed.sha256']) rmSync(join(folder, file))
    writeFileSync(join(folder, '1000_both.sql'), 'SELECT 1;\nSELECT 2;\n')
    writeFileSync(join(folder, 'folded.sha256'), entries)
    expect(listMigrations(root)).toEqual(['1000_both.sql'])
    git('add', '--all')
    git('commit', '--quiet', '-m', 'folded')
    expect(checkMigrations(root)).toMatchObject({ problems: [], unlisted: [] })
    writeFileSync(join(folder, 'folded.sha256'), entries.replace(/^.*\n/, ''))
    expect(checkMigrations(root).problems).toEqual([
      expect.stringMatching(/entry of 0001_one\.sql.*was removed/),
    ])
  })

  it('a new migration is not listed until it lands, and then keeps the entries before it', () => {
    const before = list()
    writeFileSync(join(folder, '0010_three.sql'), 'SELECT 3;\n')
    expect(checkMigrations(root)).toMatchObject({ problems: [], unlisted: ['0010_three.sql'] })
    expect(listMigrations(root)).toEqual(['0010_three.sql'])
    expect(list()).toMatch(new RegExp(`^${before}[0-9a-f]{64}  0010_three\\.sql\n$`))
    expect(checkMigrations(root)).toMatchObject({ problems: [], unlisted: [], commits: 1 })
  })

  it('without the history of git, the list alone is compared', () => {
    rmSync(join(root, '.git'), { recursive: true })
    expect(checkMigrations(root)).toEqual({ problems: [], unlisted: [], commits: 0 })
    appendFileSync(join(folder, '0001_one.sql'), ' ')
    expect(checkMigrations(root).problems).toHaveLength(1)
  })
})

it('a list that cannot be read is refused with its line', () => {
  const entry = `${'a'.repeat(64)}  0001_one.sql`
  expect(() => parseLanded(`${entry}\nnonsense\n`)).toThrow(/line 2/)
  expect(() => parseLanded(`${entry}\n${entry}\n`)).toThrow(/0001_one\.sql is listed twice/)
})
