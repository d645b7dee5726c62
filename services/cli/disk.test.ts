import { expect, it } from 'vitest'
import { diskOfDatabase } from './disk.ts'

it('the disk of an external database is not measured', () => {
  expect(diskOfDatabase({ POSTGRES_BUNDLED: 'false' }, '/volumes/postgres')).toBeUndefined()
  expect(diskOfDatabase({ POSTGRES_BUNDLED: 'true' }, '/volumes/postgres')).toBe('/volumes/postgres')
  expect(diskOfDatabase({}, '/volumes/postgres')).toBe('/volumes/postgres')
})
