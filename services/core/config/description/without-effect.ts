import type { AppConfig, ConfigPart } from '../types.ts'

/** A setting that is validated but has no effect in this version. */
export interface SettingWithoutEffect {
  readonly part: ConfigPart
  /** Key as in docs/settings.md. */
  readonly key: string
  readonly why: string
  /** Whether a configuration sets the key to a value that would change the behaviour if the setting had an effect. */
  readonly isUsed: (config: Partial<AppConfig>) => boolean
}

/**
 * Settings without effect: reserved for future versions, or present in files of the replaced system. To implement a
 * setting, delete its entry. docs/settings.md lists these settings, and a process logs each one that its configuration
 * uses.
 */
export const settingsWithoutEffect: readonly SettingWithoutEffect[] = [
  reader(
    'ds_ship_threads',
    'the reader decodes in its own thread only, because several threads were slower in a measurement',
    (entry) => entry.ds_ship_threads > 0,
  ),
  reader(
    'ship_ds_queue_size',
    'the limit of the queue of decoded blocks is a number of bytes, not of blocks',
    () => false,
  ),
  reader(
    'ship_max_blocks_queue',
    'the limit of the queue of received blocks is a number of bytes, not of blocks',
    (entry) => entry.ship_max_blocks_queue !== undefined,
  ),
  reader(
    'accept_v2_gap',
    'no reader leaves a gap in the data of version 2 of the market contract',
    (entry) => entry.accept_v2_gap,
  ),
  namespace(
    'enable_fast_asset_counts',
    'the api reads numbers of assets from stored counters if the counters have them',
    ({ args }) => args.enable_fast_asset_counts,
  ),
  // Every configuration of the appliance has the key, so no process logs it.
  namespace('oracle_account', 'the api uses the account that the market contract names', () => false),
]

function reader(
  key: string,
  why: string,
  isUsed: (entry: AppConfig['readers'][number]) => boolean,
): SettingWithoutEffect {
  return { part: 'readers', key: `[].${key}`, why, isUsed: (config) => config.readers?.some(isUsed) ?? false }
}

function namespace(
  key: string,
  why: string,
  isUsed: (entry: AppConfig['server']['namespaces'][number]) => boolean,
): SettingWithoutEffect {
  const isSet = (config: Partial<AppConfig>) => config.server?.namespaces.some(isUsed) ?? false
  return { part: 'server', key: `namespaces[].args.${key}`, why, isUsed: isSet }
}

/** Lists the settings of a configuration that have no effect. */
export function listUnusedSettings(config: Partial<AppConfig>): SettingWithoutEffect[] {
  return settingsWithoutEffect.filter((setting) => setting.isUsed(config))
}
