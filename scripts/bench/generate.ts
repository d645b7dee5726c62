/**
 * Generates a large database for benchmarks, in a PostgreSQL server whose files stay in FOLDER.
 * Usage: node dist/scripts/bench/generate.js --data FOLDER [--seed TEXT] [--factor NUMBER]
 * Generates 1,000,000 assets, 5,000 templates, 200 collections, 3,000,000 transfers and 200,000 offers, times the
 * factor (0.001 to 8; collections times its square root). The same seed gives the same database. Prints the location
 * and the size.
 */
import { parseArgs } from 'node:util'
import { startGeneratedServer } from './generated-server.ts'
import { describeSizes } from './tables.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    seed: { type: 'string', default: 'pronghorn' },
    factor: { type: 'string', default: '1' },
  },
})
if (values.data === undefined) {
  console.error('usage: generate.js --data FOLDER [--seed TEXT] [--factor NUMBER]')
  process.exit(2)
}
const server = await startGeneratedServer(
  { data: values.data, seed: values.seed, factor: Number(values.factor) },
  (step) => {
    console.log(step)
  },
)
console.log(`database ${server.address.database} in ${values.data}`)
console.log(await describeSizes(server.address))
await server.stop()
