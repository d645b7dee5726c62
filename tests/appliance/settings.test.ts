import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { checkRender, render } from '../../services/appliance/render/render.ts'
import type { RenderPlaces } from '../../services/appliance/render/index.ts'
import {
  findUnknownNames,
  namesOfContainer,
  parseEnvFile,
  readEnvFile,
} from '../../services/appliance/render/env-file.ts'
import { composeProfiles, containerVariables } from '../../services/appliance/render/container-variables.ts'
import { readHost } from '../../services/appliance/render/host.ts'
import { pathVariables } from '../../services/appliance/render/host-paths.ts'
import { variables } from '../../services/appliance/render/variables.ts'
import { ConfigError, configFiles, loadConfig } from '../../services/core/config/index.ts'
import type { ConfigPart } from '../../services/core/config/index.ts'
import { parseVariable, settingVariables } from '../../services/core/config/environment/index.ts'
import type { SettingVariable } from '../../services/core/config/environment/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { placesIn, real } from './rendering.ts'
import { wrong } from './wrong-settings.ts'
import { otherFiles, otherText, valuesAt, writeOtherFiles } from './other-values.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pronghorn-settings-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const places = (name: string) => placesIn(dir, name)

function readRendered(name: string, part: ConfigPart): unknown {
  return JSON.parse(readFileSync(join(dir, name, 'api', configFiles[part]), 'utf8')) as unknown
}

const IS_PASSWORD = /^(?:SQLDB|KVSTORE)_PASSWORD$/

/** Whether the setting refuses the control character BEL. Settings of origin patterns accept it. */
const takesNoBell = (setting: SettingVariable): boolean =>
  !setting.schema.safeParse(parseVariable(setting, '\u0007')).success

describe('every key of the three configuration files', () => {
  it('every key of the three configuration files has exactly one variable, and no two keys share a variable', () => {
    const names = settingVariables.flatMap(({ name, aliases }) => [name, ...aliases])
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => !/^[A-Z][A-Z0-9_]*$/.test(name))).toEqual([])
    expect(settingVariables.length).toBeGreaterThan(150)
  })

  it('every key of the three configuration files is set by a line of .env and appears in the rendered file', async () => {
    await render(real, places('shipped'))
    const parts = Object.keys(configFiles) as ConfigPart[]
    const shipped = Object.fromEntries(parts.map((part) => [part, readRendered('shipped', part)]))
    const written = writeOtherFiles(dir)
    const texts = settingVariables.map((setting) => {
      const text = written[setting.name] ?? otherText(setting, valuesAt(shipped[setting.part], setting.steps))
      return [setting.name, text] as const
    })
    const renderWithout = async (name: string, left: RegExp) => {
      const envFile = join(dir, `${name}.env`)
      const lines = texts.filter(([variable]) => !left.test(variable))
      writeFileSync(envFile, lines.map(([variable, text]) => `${variable}='${text}'\n`).join(''))
      await render({}, { ...places(name), envFile })
      return Object.fromEntries(parts.map((part) => [part, readRendered(name, part)]))
    }
    // A password and a password file together are refused, so they are rendered separately.
    const rendered = await renderWithout('every', IS_PASSWORD)
    const renderedPasswords = await renderWithout('passwords', /^(?:SQLDB|KVSTORE)_PASSWORD_FILE$/)
    const unequal: string[] = []
    for (const setting of settingVariables) {
      const text = Object.fromEntries(texts)[setting.name]!
      const from = IS_PASSWORD.test(setting.name) ? renderedPasswords : rendered
      const found = valuesAt(from[setting.part], setting.steps)
      const before = valuesAt(shipped[setting.part], setting.steps)
      const wanted =
        setting.name === 'KVSTORE_TLS'
          ? { rejectUnauthorized: false, ca_file: otherFiles.KVSTORE_TLS_CA_FILE?.path }
          : (otherFiles[setting.name]?.path ?? parseVariable(setting, text))
      if (found.length === 0 || found.some((each) => JSON.stringify(each) !== JSON.stringify(wanted)))
        unequal.push(setting.name)
      else if (JSON.stringify(found) === JSON.stringify(before)) unequal.push(`${setting.name} as before`)
    }
    // A setting with only one valid value cannot differ from the shipped setting.
    const single = ['SQLDB_PASSWORD_FILE as before', 'KVSTORE_CONNECTION_TYPE as before']
    expect(unequal).toEqual(single.filter((name) => unequal.includes(name)))
    const { config } = loadConfig({ need: parts, dir: join(dir, 'every/filler'), env: {} })
    expect(config.server.server_port).toBe(9500)
    expect(readFileSync(join(dir, 'every/nginx/nginx.conf'), 'utf8')).toContain('http://api:9500;')
  })

  it('an invalid value of any key of the three configuration files is refused with the name of its variable', async () => {
    for (const setting of settingVariables.filter(takesNoBell)) {
      const refused = checkRender({ ...real, [setting.name]: '\u0007' }, places('refused'))
      await expect(refused, setting.name).rejects.toThrow(`environment: ${setting.name}: found`)
    }
  })
})

async function problemsOf(text: string): Promise<string[]> {
  const envFile = join(dir, 'wrong.env')
  writeFileSync(envFile, text)
  try {
    await checkRender(
      { PATH: '/bin', SOME_VARIABLE_OF_THE_HOST: 'x', CACHE_LIVE_MODE: 'x' },
      { ...places('wrong'), envFile },
    )
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ path, allowed }) => `${path}: ${allowed}`)
  }
}

const LINES = 'CHAIN=wax-mainnet\nCHAIN_HTTP=http://node.test:8888\nCHAIN_SHIP=ws://node.test:8080\n'

describe('an .env', () => {
  it('an .env without mistakes is accepted, with comments, quotes and variables of the host', async () => {
    const text = `# A comment\n\n${LINES}export CACHE_LIFE=5 # seconds\nPROVIDER_NAME="My \\"Guild\\""\nACME_EMAIL=\n LOG_LEVEL = debug\n`
    expect(await problemsOf(text)).toEqual([])
    expect(wrong.length).toBeGreaterThanOrEqual(40)
  })

  it.each(wrong)('an .env is refused with the name of the variable: %s', async (_what, text, problem) => {
    const [first] = await problemsOf(`${LINES}${text}\n`)
    expect(first).toContain(problem)
  })

  it('an .env is refused with all of its problems at once', async () => {
    const text =
      'CACHE_LIFE=2s\nFOO_BAR=1\nHTTP_PORT=8443\nCOMPOSE_PROFILES=backups\nBACKUP_HOOK=/nowhere/hook\n'
    const problems = await problemsOf(`${text}STOP_BLOCK=5\nPROVIDER_NAME="Guild\nCHAIN=waxx\n`)
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      ...['PROVIDER_NAME', 'FOO_BAR', 'CHAIN', 'CHAIN_HTTP', 'CHAIN_SHIP'],
      ...['CACHE_LIFE', 'HTTPS_PORT', 'COMPOSE_PROFILES', 'BACKUP_HOOK'],
    ])
  })

  it('an .env with one mistake causes exactly one problem', async () => {
    const only = [
      ...[LINES.replaceAll('\n', '\r\n'), LINES.split('').join('\0')],
      ...[
        `${LINES}CHAIN=eos-mainnet\n`,
        LINES.replace('wax', 'waxx'),
        LINES.replace('wax-mainnet', 'constructor'),
        LINES.replace('CHAIN=', 'CHAIN="'),
      ],
      `${LINES}PG_MEMORY=999999g\n`,
    ]
    for (const text of only) expect(await problemsOf(text), text).toHaveLength(1)
  })

  it('the refusal of an .env quotes the written value, except secrets', async () => {
    const envFile = { text: `${LINES}PG_MEMORY=999999GB\nPROVIDER_NAME="Guild\nREDIS_PASSWORD="secret\n` }
    const error = await checkRender({}, { ...places('written'), envFile }).catch((caught: unknown) => caught)
    expect((error as ConfigError).problems.map(({ found }) => found)).toEqual([
      String.raw`"\"Guild" (the quotes do not enclose the whole value)`,
      expect.stringMatching(/^(?!.*secret).* \(the quotes do not enclose the whole value\)$/),
      '"999999GB"',
    ])
  })

  it('an .env may give a service of a disabled profile a port that another service uses, and may set memory as a fraction', async () => {
    const text = 'GRAFANA_PORT=8080\nFILLER_MEMORY=0.5g\nPG_MEMORY=0.5gb\nCOMPOSE_FILE=docker-compose.yml\n'
    expect(await problemsOf(`${LINES}${text}`)).toEqual([])
  })

  it('references in an .env get the values that Compose has passed to the container', () => {
    const text = 'DOMAIN=${OF_SHELL}\nPROVIDER_URL=https://${DOMIAN}\nPROVIDER_NAME="a\\$b$$c"\n'
    const { values, problems } = parseEnvFile(text, { DOMAIN: 'nft.test', PROVIDER_URL: 'https://' })
    expect(problems.map(({ path }) => path)).toEqual(['PROVIDER_URL'])
    expect(values.PROVIDER_NAME).toBe('a$b$c')
  })

  it('references in an .env are resolved from the variables of the .env and of the host, as in Compose', () => {
    const text = [
      'DOMAIN=nft.test',
      'PROVIDER_URL="https://${DOMAIN}"',
      "PROVIDER_NAME='$DOMAIN'",
      'ACME_EMAIL=${MAIL:-x@nft.test}',
      'READER_NAME=$HOST-1',
      'CHAIN_NAME=${CHAIN_WORD:+a}b',
    ]
    const { values, problems } = parseEnvFile(text.join('\n'), { HOST: 'a', CHAIN_WORD: '' })
    expect(problems).toEqual([])
    expect(values).toEqual({
      DOMAIN: 'nft.test',
      PROVIDER_URL: 'https://nft.test',
      PROVIDER_NAME: '$DOMAIN',
      ACME_EMAIL: 'x@nft.test',
      READER_NAME: 'a-1',
      CHAIN_NAME: 'b',
    })
  })

  it.each([
    ["'it\\'s'", "it's"],
    ["'a\\nb'", 'a\\nb'],
    ['"a\\nb\\tc"', 'a\nb\tc'],
    ['"a\\\\b\\q\\0101"', 'a\\b\\qA'],
    ['"\\$DOMAIN"', '$DOMAIN'],
    ['a\\nb', 'a\\nb'],
    ['a\t#b', 'a\t#b'],
    ['a \t#b # c', 'a \t#b'],
    ['${NOWHERE:-${DOMAIN}}', 'nft.test'],
    ['${DOMAIN:+${DOMAIN}.x}', 'nft.test.x'],
  ])('quotes, backslashes and comments of an .env are parsed as in Compose: %s', (line, value) => {
    // Each expected value is the output of `docker compose config` 2.26.1.
    const { values, problems } = parseEnvFile(`DOMAIN=nft.test\nPROVIDER_NAME=${line}\n`, {})
    expect([values.PROVIDER_NAME, problems]).toEqual([value, []])
  })

  it.each([
    [
      `${LINES.replace('ws://node.test:8080', 'ws://a.test,ws://b.test,ws://A.test/')}COMPOSE_FILE=docker-compose.yml\n`,
      ['CHAIN_SHIP'],
    ],
    // An .env with settings of the demo chain and settings of another chain.
    ['CHAIN=wax-mainnet\n', ['CHAIN_HTTP', 'CHAIN_SHIP', 'COMPOSE_FILE']],
    [`${LINES}COMPOSE_FILE=docker-compose.yml\nDEMO_CHAIN=true\n`, ['DEMO_CHAIN']],
    [
      `${LINES}COMPOSE_FILE=docker-compose.yml\nPOSTGRES_BUNDLED=false\nPOSTGRES_HOST=postgres\nPOSTGRES_SUPERUSER_PASSWORD_FILE=/etc/hostname\n`,
      ['POSTGRES_HOST'],
    ],
  ])('an .env causes one reported problem for each mistake: %s', async (text, paths) => {
    const host = readHost(`PATH=/bin\0\0${text}`)
    const error = await host.check(places('each')).catch((caught: unknown) => caught)
    const { problems } = error as ConfigError
    expect(problems.map(({ path }) => path)).toEqual(paths)
    for (const { allowed } of problems) expect(allowed).not.toMatch(/the chain is demo/)
  })

  it('an .env with CR LF is refused with the names of the affected variables', () => {
    const [problem] = parseEnvFile('DOMAIN=a\nCACHE_LIFE=2\r\n# a\r\nHTTP_PORT=80\r\n', {}).problems
    expect(problem?.found).toBe('CR LF at the end of the lines of CACHE_LIFE, HTTP_PORT')
  })

  it('an .env without required variables is refused with their names', async () => {
    const problems = await problemsOf('CHAIN_HTTP=http://node.test:8888\nCHAIN_SHIP=\n')
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(['CHAIN_NAME', 'CHAIN_ID', 'CHAIN_SHIP'])
  })

  it("an .env that the container cannot read is checked through the container's environment", () => {
    const dockerfile = readFileSync(join(packageRoot, 'Dockerfile'), 'utf8')
    const ofImage = [...dockerfile.matchAll(/^ENV (.+)$/gm)].flatMap(([, line = '']) => line.split(' '))
    expect(ofImage).toContain('PRONGHORN_MODE=appliance')
    const environment = {
      ...real,
      ...(Object.fromEntries(ofImage.map((pair) => pair.split('='))) as Record<string, string>),
      PATH: '/bin',
      HOSTNAME: 'x',
      NODE_VERSION: '24',
      https_proxy: 'x',
      FOO_BAR: '1',
    }
    expect(findUnknownNames(namesOfContainer(environment), new Set()).map(({ path }) => path)).toEqual([
      'FOO_BAR',
    ])
    expect(readEnvFile(join(dir, 'nowhere.env'))).toBeUndefined()
  })
})

describe('folders and files of the operator on the host', () => {
  const POSTGRES = 999
  const made: string[] = []
  /** Creates a folder that an operator mounts, with the given subfolders. PostgreSQL's user owns the subfolders. */
  const mount = async (...names: string[]): Promise<string> => {
    const mounted = mkdtempSync(join(packageRoot, '.data/host-'))
    made.push(mounted)
    for (const name of names) {
      mkdirSync(join(mounted, name))
      await chown(join(mounted, name), POSTGRES, POSTGRES)
    }
    return mounted
  }
  const found = async (environment: Readonly<Record<string, string>>, more: Partial<RenderPlaces>) =>
    checkRender({ ...real, ...environment }, { ...places('host'), ...more }).then(
      () => [],
      (error: unknown) => (error as ConfigError).problems.map(({ path, found: what }) => `${path}: ${what}`),
    )
  beforeAll(() => mkdirSync(join(packageRoot, '.data'), { recursive: true }))
  afterAll(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

  it.skipIf(process.getuid?.() !== 0)('an unusable DATA_LOCATION or BACKUP_DIR is refused', async () => {
    const mounted = await mount('DATA_LOCATION', 'BACKUP_DIR')
    const both = { DATA_LOCATION: '/srv/database', BACKUP_DIR: '/srv/backups', COMPOSE_PROFILES: 'backup' }
    expect(await found(both, { mounted })).toEqual([])
    expect(await found({ ...both, BACKUP_DIR: '/srv/database/backups' }, { mounted })).toEqual([
      'BACKUP_DIR: "/srv/database/backups" (the folder is inside DATA_LOCATION)',
    ])
    chmodSync(join(mounted, 'DATA_LOCATION'), 0)
    expect(await found(both, { mounted })).toEqual([
      'DATA_LOCATION: "/srv/database" (the mode 000 denies the owner a right on the folder)',
    ])
    chmodSync(join(mounted, 'DATA_LOCATION'), 0o755)
    writeFileSync(join(mounted, 'DATA_LOCATION/photo.jpg'), '')
    expect(await found(both, { mounted })).toEqual([
      'DATA_LOCATION: "/srv/database" (the folder is not empty: it contains photo.jpg)',
    ])
    // A folder with other files is accepted as DATA_LOCATION if it already contains a database.
    mkdirSync(join(mounted, 'DATA_LOCATION/pgdata'))
    expect(await found(both, { mounted })).toEqual([])
  })

  it.skipIf(process.getuid?.() !== 0)('a BACKUP_DIR that links to DATA_LOCATION is refused', async () => {
    const mounted = await mount('DATA_LOCATION')
    symlinkSync('DATA_LOCATION', join(mounted, 'BACKUP_DIR'))
    expect(await found({ DATA_LOCATION: '/srv/a', BACKUP_DIR: '/srv/b' }, { mounted })).toEqual([
      'BACKUP_DIR: "/srv/b" (the folder is inside DATA_LOCATION)',
    ])
  })

  it('the remedy for a DATA_LOCATION that is a system folder or has other files is a new folder inside DATA_LOCATION', async () => {
    const mounted = mkdtempSync(join(packageRoot, '.data/host-'))
    made.push(mounted)
    const advice = async (environment: Readonly<Record<string, string>>) => {
      const error = await checkRender({ ...real, ...environment }, { ...places('host'), mounted }).catch(
        (caught: unknown) => caught,
      )
      return (error as ConfigError).problems.map(({ allowed }) => allowed.replace(/^.*: (?:sudo )?/, ''))
    }
    const install = (path: string): string => `install -d -o 999 -g 999 -m 755 ${path}`
    expect(await advice({ DATA_LOCATION: "/srv/it's new" })).toEqual([
      install(String.raw`'/srv/it'\''s new'`),
    ])
    mkdirSync(join(mounted, 'DATA_LOCATION/lost+found'), { recursive: true })
    expect(await advice({ DATA_LOCATION: '/mnt/disk' })).toEqual([install('/mnt/disk')])
    expect(await advice({ DATA_LOCATION: '/' })).toEqual([install('/pronghorn')])
    expect(await advice({ DATA_LOCATION: '/srv' })).toEqual([install('/srv/pronghorn')])
    mkdirSync(join(mounted, 'DATA_LOCATION/photos'))
    expect(await advice({ DATA_LOCATION: '/home/me' })).toEqual([install('/home/me/pronghorn')])
    mkdirSync(join(mounted, 'BACKUP_HOOK'))
    expect(await advice({ BACKUP_HOOK: '/root' })).toEqual([
      'a program that the user with the number 999 may execute',
    ])
  })

  it('the backup schedule requires an executable BACKUP_HOOK, and the folder ./backups if BACKUP_DIR is not set', async () => {
    const mounted = await mount()
    const project = await mount()
    const schedule = { COMPOSE_PROFILES: 'backup', BACKUP_HOOK: './hook' }
    expect(await found(schedule, { mounted, project })).toEqual([
      'BACKUP_HOOK: "./hook" (the path does not exist)',
      'BACKUP_DIR: "./backups" (the path does not exist)',
    ])
    writeFileSync(join(mounted, 'BACKUP_HOOK'), '', { mode: 0o644 })
    expect(await found({ BACKUP_HOOK: './hook' }, { mounted, project })).toEqual([
      'BACKUP_HOOK: "./hook" (the user with the number 999 may not execute the file)',
    ])
    chmodSync(join(mounted, 'BACKUP_HOOK'), 0o755)
    expect(await found({ BACKUP_HOOK: './hook' }, { mounted, project })).toEqual([])
  })

  it('COMPOSE_FILE is refused if it names a file that does not exist', async () => {
    const project = await mount()
    writeFileSync(join(project, 'docker-compose.yml'), 'services: {a: {profiles: !reset []}}')
    writeFileSync(join(project, 'README.md'), '# A page')
    const COMPOSE_FILE = 'docker-compose.yml:docker-compose.ipv4.yml'
    expect(await found({ COMPOSE_FILE }, { project })).toEqual([
      `COMPOSE_FILE: "${COMPOSE_FILE}", where docker-compose.ipv4.yml is no file`,
    ])
    expect(await found({ COMPOSE_FILE: 'docker-compose.yml' }, { project })).toEqual([])
    const withPage = 'docker-compose.yml:README.md'
    expect(await found({ COMPOSE_FILE: withPage }, { project })).toEqual([
      `COMPOSE_FILE: "${withPage}", where README.md is no compose file`,
    ])
  })

  it('no message about a refused variable quotes the validator library', async () => {
    const names = Object.keys({ ...variables, ...containerVariables })
    const environment = Object.fromEntries(names.map((name) => [name, '\u0007']))
    const error = await checkRender(environment, places('words')).catch((caught: unknown) => caught)
    const { problems } = error as ConfigError
    expect(names.filter((name) => !problems.some(({ path }) => path === name))).toEqual([])
    for (const { allowed } of problems) expect(allowed).not.toMatch(/input|choices|Invalid/i)
  })

  it('the allowed profiles are the profiles of the compose file', () => {
    const text = readFileSync(join(packageRoot, 'docker-compose.yml'), 'utf8')
    const inFile = [...text.matchAll(/^ {4}profiles: \[(\w+)\]$/gm)].map(([, name = '']) => name)
    expect([...new Set(inFile)].filter((name) => name !== 'tools').sort()).toEqual([...composeProfiles])
  })

  it("the path in every path variable is mounted in the container under the variable's name", () => {
    const text = readFileSync(join(packageRoot, 'docker-compose.yml'), 'utf8')
    const { services } = parse(text, { merge: true }) as {
      services: { config: { volumes: (string | { target: string; bind: unknown })[] } }
    }
    const mounted = services.config.volumes.filter((each) => typeof each === 'object')
    const folder = '/pronghorn/operator/'
    expect(mounted.map(({ target }) => target.replace(folder, '')).sort()).toEqual([...pathVariables].sort())
    for (const { bind } of mounted) expect(bind).toEqual({ create_host_path: false })
  })
})
