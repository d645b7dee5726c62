import { expect, it } from 'vitest'
import { describeSettings } from './settings-rows.ts'
import { listUnusedSettings, settingsWithoutEffect } from './without-effect.ts'
import { parseConfig } from '../load.ts'

const namespaces = [{ name: 'assets', path: '/assets', args: { assets_account: 'atomicassets' } }]
const contracts = [{ handler: 'assets', args: { assets_account: 'atomicassets' } }]

it('a minimal configuration has no keys without effect', () => {
  const { config } = parseConfig({ server: { namespaces }, readers: [{ name: 'main', contracts }] })
  expect(listUnusedSettings(config)).toEqual([])
})

it('listUnusedSettings names the configured keys that have no effect', () => {
  const { config } = parseConfig({
    server: { namespaces },
    readers: [{ name: 'main', contracts, ds_ship_threads: 4 }],
  })
  expect(listUnusedSettings(config).map(({ key }) => key)).toEqual(['[].ds_ship_threads'])
})

it('listUnusedSettings names a key of a namespace', () => {
  const [namespace] = namespaces
  const args = { ...namespace!.args, enable_fast_asset_counts: true }
  const { config } = parseConfig({
    server: { namespaces: [{ ...namespace, args }] },
    readers: [{ name: 'main', contracts }],
  })
  expect(listUnusedSettings(config).map(({ key }) => key)).toEqual([
    'namespaces[].args.enable_fast_asset_counts',
  ])
})

it('every key in settingsWithoutEffect exists in the schema', () => {
  const known = new Set(describeSettings().map(({ key }) => key))
  for (const { key } of settingsWithoutEffect.filter(({ key }) => !key.includes(' '))) {
    expect(
      [...known].some((name) => name === key || name.startsWith(`${key}.`) || name.startsWith(`${key}[`)),
      key,
    ).toBe(true)
  }
})
