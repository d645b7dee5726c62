import { NONE } from './assets.ts'
import type { GeneratedAssets } from './assets.ts'
import type { Catalogue } from './catalogue.ts'
import { word } from './names.ts'

/** Immutable data of an asset; all attributes are texts. */
export interface ImmutableData {
  readonly name?: string
  readonly rarity?: string
  readonly serial: string
}

/** Immutable data of an asset: assets without a template have all attributes, others at most a serial number. */
export function immutableData(at: number, template: number): ImmutableData | null {
  const serial = String(at)
  if (template === NONE) {
    const name = at % 5 === 0 ? {} : { name: `${word(at % 1_601)} #${at % 977}` }
    return { ...name, rarity: at % 3 === 0 ? 'Unique' : 'Rare', serial }
  }
  if (template % 4 !== 0) return null
  return at % 61 === 0 ? { serial, name: `Signed ${word(at % 300)}` } : { serial }
}

/** Attribute `name` of the mutable data of assets with a level. */
function mutableName(at: number): string | undefined {
  return at % 53 === 0 ? `Sir ${word(at % 500)}` : undefined
}

/** Mutable data of an asset as JSON text; null for an asset without a level (`level` 0). */
export function mutableData(at: number, level: number, xp: number): string | null {
  if (level === 0) return null
  return JSON.stringify({ level, xp, status: level > 2 ? 'veteran' : 'fresh', name: mutableName(at) })
}

/** Attribute `name` of the merged data of an asset, as `market.asset_name` gives it. */
export function assetName(at: number, assets: GeneratedAssets, { templates }: Catalogue): string | null {
  const id = assets.template[at]!
  const template = templates[id - 1]
  const own = assets.level[at] === 0 ? undefined : mutableName(at)
  return template?.name ?? immutableData(at, id)?.name ?? own ?? template?.mutableName ?? null
}
