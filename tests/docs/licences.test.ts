import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readLicences, refusedLicences, renderLicences } from '../../scripts/docs/licences.ts'
import { packageRoot } from '../../services/core/paths/index.ts'

it('every delivered package has an allowed licence and is listed', async () => {
  const licences = readLicences()
  expect(licences.length).toBeGreaterThan(100)
  expect(refusedLicences(licences)).toEqual([])
  expect(readFileSync(join(packageRoot, 'docs/licences.md'), 'utf8')).toBe(await renderLicences(licences))
})

it('a forbidden licence is reported; a choice of licences needs one allowed licence', () => {
  const of = (licence: string) => refusedLicences([{ name: 'x', version: '1', licence }]).length
  expect(['GPL-3.0', '', 'MIT AND GPL-2.0', 'SEE LICENSE IN x'].map(of)).toEqual([1, 1, 1, 1])
  expect(['MIT', '(MIT OR GPL-2.0)', 'MIT AND ISC'].map(of)).toEqual([0, 0, 0])
})
