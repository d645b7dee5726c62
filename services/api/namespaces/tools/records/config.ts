import type { Session } from '../../../database/index.ts'
import { historyMember, jsonMembers, jsonText } from '../../../json/index.ts'

const CONFIG = `SELECT '{' || ${jsonMembers({
  atomictools_contract: `to_json($1::text)::text`,
  atomicassets_contract: jsonText('c.assets_contract'),
  version: jsonText('c.version'),
})} || ${historyMember('tools')} || '}' FROM tools.config c`

/** The settings of the contract as JSON text; undefined until they have been seen. */
export async function toolsConfig(session: Session, contract: string): Promise<string | undefined> {
  const rows = await session.query<[string]>({ name: 'tools-config', text: CONFIG, values: [contract] })
  return rows[0]?.[0]
}
