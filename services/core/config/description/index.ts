export { describeSettings } from './settings-rows.ts'
export type { SettingRow } from './settings-rows.ts'
export { settingsWithoutEffect, listUnusedSettings } from './without-effect.ts'
