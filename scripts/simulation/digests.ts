import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { digestDatabase } from '../../services/verify/index.ts'
import type { DatabaseDigest } from '../../services/verify/index.ts'

/** Content hash of a database that nobody writes to. */
export async function digestOf(address: DatabaseAddress): Promise<DatabaseDigest> {
  const client = await connectDatabase(address, { applicationName: 'digest' })
  try {
    return await digestDatabase(client)
  } finally {
    await client.end()
  }
}
