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
    writeFileSync(join(folder, '1001_one.sql'), 'SELECT 1;\n')
    writeFileSync(join(folder, '1002_two.sql'), 'SELECT 2;\n')
    git('init', '--quiet')
    expect(listMigrations(root)).toEqual(['1001_one.sql', '1002_two.sql'])
    git('add', '.')
    git('commit', '--quiet', '-m', 'two migrations')
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it('an edited migration is reported, and its entry in landed.sha256 cannot be renewed', () => {
    appendFileSync(join(folder, '1002_two.sql'), '-- a comment\n')
    const before = list()
    expect(checkMigrations(root).problems).toEqual([
      expect.stringMatching(/^1002_two\.sql has landed and was changed/),
    ])
    expect(() => listMigrations(root)).toThrow(/1002_two\.sql has landed and was changed/)
    expect(list()).toBe(before)
  })

  it('a missing file of a landed migration is reported', () => {
    rmSync(join(folder, '1001_one.sql'))
    expect(checkMigrations(root).problems).toEqual([
      expect.stringMatching(/^1001_one\.sql has landed and is missing/),
    ])
  })

  it('an entry of landed.sha256 that was edited together with its migration is found in the git history', () => {
    appendFileSync(join(folder, '1001_one.sql'), '-- a comment\n')
    rmSync(join(folder, 'landed.sha256'))
    expect(() => listMigrations(root)).toThrow(/entry of 1001_one\.sql.*was removed/)
    const sum = execFileSync('sha256sum', [join(folder, '1001_one.sql')], { encoding: 'utf8' }).slice(0, 64)
    writeFileSync(join(folder, 'landed.sha256'), `${sum}  1001_one.sql\n`)
    git('add', '.')
    git('commit', '--quiet', '-m', 'edited')
    const { problems, commits } = checkMigrations(root)
    expect(commits).toBe(2)
    expect(problems).toEqual([
      expect.stringMatching(/entry of 1001_one\.sql.*was changed/),
      expect.stringMatching(/entry of 1002_two\.sql.*was removed/),
    ])
  })

  it('entries of migrations before 1.0.0 may be removed from landed.sha256; later entries may not', () => {
    writeFileSync(join(folder, '0001_old.sql'), 'SELECT 0;\n')
    expect(listMigrations(root)).toEqual(['0001_old.sql'])
    git('add', '--all')
    git('commit', '--quiet', '-m', 'a version before 1.0.0')
    const drop = (file: string): void => {
      rmSync(join(folder, file))
      const kept = list()
        .split('\n')
        .filter((line) => !line.endsWith(file))
      writeFileSync(join(folder, 'landed.sha256'), kept.join('\n'))
    }
    drop('0001_old.sql')
    expect(checkMigrations(root).problems).toEqual([])
    drop('1001_one.sql')
    const removed = expect.stringMatching(/entry of 1001_one\.sql.*was removed/) as string
    expect(checkMigrations(root).problems).toEqual([removed, removed])
  })

  it('a new migration is reported as unlisted until landed.sha256 has its entry; the earlier entries stay unchanged', () => {
    const before = list()
    writeFileSync(join(folder, '1010_three.sql'), 'SELECT 3;\n')
    expect(checkMigrations(root)).toMatchObject({ problems: [], unlisted: ['1010_three.sql'] })
    expect(listMigrations(root)).toEqual(['1010_three.sql'])
    expect(list()).toMatch(new RegExp(`^${before}[0-9a-f]{64}  1010_three\\.sql\n$`))
    expect(checkMigrations(root)).toMatchObject({ problems: [], unlisted: [], commits: 1 })
  })

  it('without a git history, migrations are compared with landed.sha256 only', () => {
    rmSync(join(root, '.git'), { recursive: true })
    expect(checkMigrations(root)).toEqual({ problems: [], unlisted: [], commits: 0 })
    appendFileSync(join(folder, '1001_one.sql'), ' ')
    expect(checkMigrations(root).problems).toHaveLength(1)
  })
})

it('a malformed or repeated line of landed.sha256 is refused, naming the line or the migration', () => {
  const entry = `${'a'.repeat(64)}  1001_one.sql`
  expect(() => parseLanded(`${entry}\nnonsense\n`)).toThrow(/line 2/)
  expect(() => parseLanded(`${entry}\n${entry}\n`)).toThrow(/1001_one\.sql is listed twice/)
})
