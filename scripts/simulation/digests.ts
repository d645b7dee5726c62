import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { digestDatabase } from '../../services/verify/index.ts'
import type { DatabaseDigest } from '../../services/verify/index.ts'

/** The digest of a database without a writer. */
export async function digestOf(address: DatabaseAddress): Promise<DatabaseDigest> {
  const client = await connectDatabase(address, { applicationName: 'digest' })
  try {
    return await digestDatabase(client)
  } finally {
    await client.end()
  }
}
