import type { AppConfig, ConfigPart } from '../types.ts'

/** A setting that is checked and accepted but that this version does nothing with. */
export interface SettingWithoutEffect {
  readonly part: ConfigPart
  /** As in docs/settings.md. */
  readonly key: string
  readonly why: string
  /** Whether a configuration asks for it. */
  readonly isUsed: (config: Partial<AppConfig>) => boolean
}

/**
 * Settings that are accepted for the versions to come, or because existing files carry them. A setting with an
 * effect removes its line; docs/settings.md lists them, and a process that is given one logs it at its start.
 */
export const settingsWithoutEffect: readonly SettingWithoutEffect[] = [
  reader(
    'ds_ship_threads',
    'the thread of the reader decodes by itself, which was measured to be faster',
    (entry) => entry.ds_ship_threads > 0,
  ),
  reader('ship_ds_queue_size', 'the limit is in bytes', () => false),
  reader(
    'ship_max_blocks_queue',
    'the limit is in bytes',
    (entry) => entry.ship_max_blocks_queue !== undefined,
  ),
  reader('accept_v2_gap', 'a reader cannot leave such a gap', (entry) => entry.accept_v2_gap),
]

function reader(
  key: string,
  why: string,
  isUsed: (entry: AppConfig['readers'][number]) => boolean,
): SettingWithoutEffect {
  return { part: 'readers', key: `[].${key}`, why, isUsed: (config) => config.readers?.some(isUsed) ?? false }
}

/** The settings of a configuration that this version does nothing with. */
export function listUnusedSettings(config: Partial<AppConfig>): SettingWithoutEffect[] {
  return settingsWithoutEffect.filter((setting) => setting.isUsed(config))
}
