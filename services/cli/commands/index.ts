export { addConfig } from './config.ts'
export { addDevchain } from './devchain.ts'
export { addFiller } from './filler.ts'
export { addMigrate } from './migrate.ts'
