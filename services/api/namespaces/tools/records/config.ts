import type { Session } from '../../../database/index.ts'
import { declareRecord, field } from '../../../records/fields/index.ts'

export const config = declareRecord('Config', 'Settings of the contract', {
  atomictools_contract: field.contract('tools_contract', 'Account of the contract'),
  atomicassets_contract: field.text('c.assets_contract', 'Account of the assets contract'),
  version: field.text('c.version', 'Version of the contract'),
  'history_since_block?': field.historySince('tools'),
})

/** The settings of the tools contract as JSON text; undefined until the filler has stored them. */
export async function toolsConfig(session: Session, contract: string): Promise<string | undefined> {
  const text = `SELECT ${config.packed} FROM tools.config c`
  const rows = await session.query<[string]>({ name: 'tools-config', text, values: [] })
  return config.read(rows[0]?.[0], { tools_contract: `"${contract}"` })[0]
}
