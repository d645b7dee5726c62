import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import { compareHasura } from '../../services/appliance/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'

// `hasura check`: compares infra/hasura/metadata with the schema of the migrations, in a database of its own. `hasura
// write`: generates the metadata.

const mode = process.argv[2]
if (mode !== 'check' && mode !== 'write') {
  process.stderr.write('usage: hasura check | write\n')
  process.exit(2)
}

const server = await startEmbeddedPostgres({})
try {
  const { host, port, user, password } = server
  const client = await connectDatabase(
    { host, port, user, password, database: 'postgres' },
    { applicationName: 'hasura-check' },
  )
  await migrate(client)
  const problems = await compareHasura(client, mode)
  await client.end()
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  process.stdout.write(
    problems.length === 0 ? 'Hasura metadata and schema agree.\n' : 'npm run hasura:write\n',
  )
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  await server.stop()
}
