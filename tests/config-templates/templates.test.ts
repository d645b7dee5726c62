import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError, configFiles, parseConfig } from '../../services/core/config/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'

const templates = join(packageRoot, 'config-templates')

function readDefaults(): Record<string, string> {
  const lines = readFileSync(join(templates, 'defaults.env'), 'utf8').split('\n')
  const pairs = lines.filter((line) => /^[A-Z]/.test(line)).map((line) => /^([A-Z_]+)=(.*)$/.exec(line))
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
}

const chosen = {
  POSTGRES_PASSWORD: 'secret',
  CHAIN_NAME: 'wax',
  CHAIN_ID: '1064487b3cd1a897ce03ae5b6a865651747e2e152090f99c1d19d44e01aea5a4',
  CHAIN_HTTP: 'http://node:8888',
  CHAIN_SHIP: 'ws://node:8080',
}

function render(name: string, values: Record<string, string>): unknown {
  const text = readFileSync(join(templates, `${name}.template`), 'utf8')
  const filled = text.replaceAll(/\$\{([A-Z_]+)\}/g, (_all, variable: string) => {
    const value = values[variable]
    if (value === undefined) throw new Error(`${name} uses ${variable}, which has no line in defaults.env`)
    return value
  })
  return JSON.parse(filled) as unknown
}

function renderAll(values: Record<string, string>) {
  return {
    connections: render(configFiles.connections, values),
    server: render(configFiles.server, values),
    readers: render(configFiles.readers, values),
  }
}

describe('the configuration templates', () => {
  it('make a configuration without a problem or warning', () => {
    const { config, warnings } = parseConfig(renderAll({ ...readDefaults(), ...chosen }))
    expect(warnings).toEqual([])
    expect(config.server.namespaces.map(({ path, aliases }) => [path, ...aliases])).toEqual([
      ['/assets', '/atomicassets'],
      ['/market', '/atomicmarket'],
      ['/tools', '/atomictools'],
    ])
    expect(config.readers[0]?.contracts).toHaveLength(4)
  })

  it('leave exactly the facts of the operator unset', () => {
    const unset = Object.entries(readDefaults()).filter(([, value]) => value === '')
    expect(unset.map(([name]) => name)).toEqual(Object.keys(chosen))
  })

  it('use every documented default, and are refused without the facts', () => {
    const text = Object.values(configFiles).map((name) =>
      readFileSync(join(templates, `${name}.template`), 'utf8'),
    )
    for (const name of Object.keys(readDefaults())) expect(text.join('')).toContain(`\${${name}}`)
    expect(() => parseConfig(renderAll(readDefaults()))).toThrow(ConfigError)
  })
})
