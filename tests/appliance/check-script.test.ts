import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../services/core/paths/index.ts'

/**
 * Replaces the container engine. Every image exists, and `docker run` starts the program of this project with links to
 * the mounted files and folders.
 */
const DOCKER = `#!/bin/bash
[ "$1" != compose ] || exec "$STAND_IN_DOCKER" "$@"
[ "$1 $2" != 'image inspect' ] || exit 0
[ "$1" = run ] || { echo "not expected: $*" >&2; exit 2; }
mounted=$(mktemp -d "$STAND_IN/mounted-XXXX")
while [ "$1" != check-env ]; do
  if [ "$1" = --volume ]; then
    shift
    IFS=: read -r source target _ <<<"$1"
    case $target in /pronghorn/operator/*) ln -s "$source" "$mounted/\${target##*/}" ;; esac
  fi
  shift
done
exec env -i PATH="$PATH" PRONGHORN_MODE=appliance node "$STAND_IN_PROGRAM" "$@" --mounted "$mounted" --project "$PWD"
`

/** The real docker program. The test uses its Compose, which reads the image name without an engine. */
const docker = spawnSync('sh', ['-c', 'command -v docker'], { encoding: 'utf8' }).stdout.trim() || 'false'
const hasCompose = spawnSync(docker, ['compose', 'version']).status === 0

const REAL = 'CHAIN=wax-mainnet\nCHAIN_HTTP=http://node.test:8888\nCHAIN_SHIP=ws://node.test:8080\n'

describe('scripts/check', () => {
  let folder: string
  let project: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pronghorn-check-'))
    project = join(folder, 'an appliance')
    for (const name of [join(folder, 'programs'), join(project, 'scripts')])
      mkdirSync(name, { recursive: true })
    for (const name of ['docker-compose.yml', 'scripts/check', 'scripts/image.sh'])
      cpSync(join(packageRoot, name), join(project, name))
    writeFileSync(join(folder, 'programs/docker'), DOCKER, { mode: 0o755 })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function check(env: string | undefined, variables: Readonly<Record<string, string>> = {}) {
    rmSync(join(project, '.env'), { force: true })
    if (env !== undefined) writeFileSync(join(project, '.env'), env)
    const { status, stdout, stderr } = spawnSync(join(project, 'scripts/check'), [], {
      env: {
        ...variables,
        PATH: [join(folder, 'programs'), process.env.PATH].join(delimiter),
        STAND_IN: folder,
        STAND_IN_DOCKER: docker,
        STAND_IN_PROGRAM: join(packageRoot, 'dist/services/cli/main.js'),
      },
      encoding: 'utf8',
    })
    const problems = stderr.match(/(?<=^ {2}[\w.]+: )\S+?(?=: found)/gm) ?? []
    return { status, stdout, stderr, problems }
  }

  it('scripts/check names the variable of every value that Compose refuses without naming a variable, and creates no files', () => {
    const wrong = [
      ...['POSTGRES_BUNDLED=no', 'REDIS_BUNDLED=FALSE', 'API_MEMORY=2x', 'API_CPUS=all', 'HTTP_PORT=99999'],
      ...['CONFIG_FILES=config', 'DATA_LOCATION=./scripts/check', 'BACKUP_DIR=./bakups'],
      ...['POSTGRES_SSL_CA_FILE=./ca.pem', 'BACKUP_HOOK=./hook', 'CACHE_LIFE="2', 'PATH=/x'],
    ]
    const before = readdirSync(project)
    const { status, stderr, problems } = check(
      `${REAL}COMPOSE_FILE=docker-compose.yml\n${wrong.join('\n')}\n`,
    )
    expect(status).not.toBe(0)
    // Error messages name files by their paths on the host, not by their paths in the container.
    expect(stderr).not.toContain('/etc/pronghorn')
    expect([...new Set(problems)].sort()).toEqual(wrong.map((line) => line.split('=')[0]).sort())
    expect(readdirSync(project).filter((name) => name !== '.env')).toEqual(before)
  })

  it.skipIf(!hasCompose)('PRONGHORN_IMAGE may refer to another variable of .env', () => {
    const name = (env: string): string => {
      writeFileSync(join(project, '.env'), env)
      const words = ['-euc', '. scripts/image.sh; printf %s "$image"']
      return spawnSync('sh', words, { cwd: project, env: { PATH: process.env.PATH }, encoding: 'utf8' })
        .stdout
    }
    expect(name('REGISTRY=a.test\nPRONGHORN_IMAGE="${REGISTRY}/p:1" # released\n')).toBe('a.test/p:1')
    expect(name('PRONGHORN_IMAGE=p:2\n')).toBe('p:2')
    expect(name('CACHE_LIFE=2\n')).toMatch(/^pronghorn:/)
    // Compose cannot parse this .env, so scripts/check reads PRONGHORN_IMAGE itself.
    expect(name('PRONGHORN_IMAGE=p:3\nCACHE_LIFE="2\n')).toBe('p:3')
  })

  it('scripts/check refuses a folder in place of .env', () => {
    rmSync(join(project, '.env'), { force: true })
    mkdirSync(join(project, '.env'))
    const { status, stderr } = spawnSync(join(project, 'scripts/check'), [], {
      env: { PATH: [join(folder, 'programs'), process.env.PATH].join(delimiter) },
      encoding: 'utf8',
    })
    expect([status, stderr.trim().split('\n').length]).toEqual([1, 1])
    expect(stderr).toContain('.env: found something that is no readable file')
    rmSync(join(project, '.env'), { recursive: true })
  })

  it('scripts/check accepts files and folders of the host, by absolute and relative paths with spaces', () => {
    const config = join(project, 'my config')
    mkdirSync(config)
    writeFileSync(join(config, 'readers.config.json'), '[{"name":"main","contracts":[]}]')
    writeFileSync(join(project, 'the hook'), '', { mode: 0o755 })
    for (const path of [config, './my config']) {
      const text = `${REAL}COMPOSE_FILE=docker-compose.yml\nCONFIG_FILES='${path}'\nBACKUP_HOOK="./the hook"\n`
      const { problems, stderr } = check(text)
      // The script has read readers.config.json: it reports only that the reader `[0]` has no contract.
      expect(problems, stderr).toEqual(expect.arrayContaining([expect.stringContaining('[0]')]))
      expect(stderr).not.toMatch(/CONFIG_FILES|BACKUP_HOOK/)
    }
  })

  it('scripts/check detects the demo chain, and prefers variables of the shell to lines of .env', () => {
    expect(check(undefined)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('DEMO CHAIN') as string,
    })
    expect(check('COMPOSE_FILE=docker-compose.yml\n').problems).toContain('CHAIN_ID')
    expect(check(REAL).problems).toEqual(['COMPOSE_FILE'])
    const { problems } = check(`${REAL}COMPOSE_FILE=docker-compose.yml\nCACHE_LIFE=2s\n`, {
      CACHE_LIFE: '2',
      HTTPS_PORT: 'http',
      EDITOR: 'vi',
    })
    expect(problems).toEqual(['HTTPS_PORT'])
  })
})
