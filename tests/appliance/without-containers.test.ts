import { execFileSync } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { render } from '../../services/appliance/render/render.ts'
import { runCli } from '../../services/cli/program.ts'
import { loadConfig } from '../../services/core/config/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless, findProgram } from '../setup/available.ts'

const units = join(packageRoot, 'examples/systemd')
const configuration = join(packageRoot, 'examples/config')

async function run(...words: string[]): Promise<readonly [code: number, text: string]> {
  const said: string[] = []
  const say = (text: string): unknown => said.push(text)
  const io = { out: say, err: say, env: {}, isTerminal: false, signal: new AbortController().signal }
  return [await runCli(words, io), said.join('')]
}

describe('the examples for machines without containers', () => {
  it('the examples for machines without containers have a valid configuration', async () => {
    expect(await run('config', 'check', '--config', configuration)).toEqual([
      0,
      'The configuration is valid.\n',
    ])
  })

  it('the examples for machines without containers index and serve the same families as the appliance', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'pronghorn-examples-'))
    const environment = { CHAIN: 'wax-mainnet', CHAIN_HTTP: 'http://node.test', CHAIN_SHIP: 'ws://node.test' }
    await render(environment, { out: dir, certificateFiles: dir })
    const need = ['connections', 'server', 'readers'] as const
    const wanted = loadConfig({ need, dir: join(dir, 'api'), env: {} }).config
    const found = loadConfig({ need, dir: configuration, env: {} }).config
    expect(found.readers[0]?.contracts).toEqual(wanted.readers[0]?.contracts)
    expect(found.readers[0]?.start_block).toBe(wanted.readers[0]?.start_block)
    expect(found.server.namespaces).toEqual(wanted.server.namespaces)
    expect(found.connections.chain.chain_id).toBe(wanted.connections.chain.chain_id)
    await rm(dir, { recursive: true, force: true })
  })

  it('the examples for machines without containers start only existing commands, with existing files', async () => {
    let commands = 0
    for (const name of (await readdir(units)).filter((each) => each.endsWith('.service'))) {
      const text = await readFile(join(units, name), 'utf8')
      for (const [, program = '', words = ''] of text.matchAll(/^Exec\w+=(\S+) (.*)$/gm)) {
        if (program === '/bin/bash') {
          const [script = ''] = words.split(' ')
          await readFile(script.replace('/opt/pronghorn', packageRoot))
          continue
        }
        const [, command = ''] = /\/opt\/pronghorn\/dist\/services\/cli\/main\.js (.*)$/.exec(words) ?? []
        expect([name, (await run(...command.split(' '), '--help'))[0]]).toEqual([name, 0])
        commands++
      }
    }
    expect(commands).toBeGreaterThanOrEqual(5)
  })
})

describeUnless(
  findProgram('systemd-analyze') === undefined ? 'there is no systemd on this machine' : undefined,
  'the systemd units',
  () => {
    let dir: string

    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), 'pronghorn-units-'))
      await cp(units, dir, { recursive: true })
      // systemd-analyze fails if the program of a unit does not exist.
      for (const name of await readdir(dir)) {
        const text = await readFile(join(dir, name), 'utf8')
        await writeFile(join(dir, name), text.replaceAll('/usr/bin/node', process.execPath))
      }
    })
    afterAll(() => rm(dir, { recursive: true, force: true }))

    it('the systemd units are valid and restrict their services', async () => {
      const paths = (await readdir(dir)).map((name) => join(dir, name))
      const said = execFileSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' })
      expect(said).toBe('')
      const services = paths.filter((path) => path.endsWith('.service'))
      // The command fails if a unit's exposure level is above 2.0 (the scale ends at 10).
      execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', ...services])
    })
  },
)
