/**
 * Generates a large database for benchmarks, in a PostgreSQL server whose files stay in FOLDER.
 * Usage: node dist/scripts/bench/generate.js --data FOLDER [--seed TEXT] [--factor NUMBER] [--parts LIST]
 * Generates 1,000,000 assets, 5,000 templates, 200 collections, 3,000,000 transfers, 200,000 offers and 400,000 sales,
 * times the factor (0.001 to 64; collections times its square root). The same seed gives the same database. Prints the
 * location and the size.
 * --parts: comma list of the parts to write besides collections, schemas, templates and assets: transfers, logs,
 * offers, market; default all.
 */
import { parseArgs } from 'node:util'
import { readParts } from './generated/index.ts'
import { startGeneratedServer } from './generated-server.ts'
import { describeSizes } from './tables.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    seed: { type: 'string', default: 'pronghorn' },
    factor: { type: 'string', default: '1' },
    parts: { type: 'string' },
  },
})
if (values.data === undefined) {
  console.error('usage: generate.js --data FOLDER [--seed TEXT] [--factor NUMBER] [--parts LIST]')
  process.exit(2)
}
const server = await startGeneratedServer(
  {
    data: values.data,
    seed: values.seed,
    factor: Number(values.factor),
    parts: readParts(values.parts),
  },
  (step) => {
    console.log(step)
  },
)
console.log(`database ${server.address.database} in ${values.data}`)
console.log(await describeSizes(server.address))
await server.stop()
