/**
 * Generates a large database, for measurements. Usage:
 *   node dist/scripts/bench/generate.js --data FOLDER [--seed TEXT] [--factor NUMBER]
 * Generates 1,000,000 assets, 5,000 templates, 200 collections, 3,000,000 transfers and 200,000 offers (times the factor,
 * from 0.001 to 8; collections times its root), the same for the same seed, and keeps the PostgreSQL server in the folder.
 * Prints where it is and how large it is.
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
