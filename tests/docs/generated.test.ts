import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { renderPages } from '../../scripts/docs/docs.ts'
import { pinImages, pinnedFiles } from '../../scripts/docs/pins.ts'
import { readDeclaredIndexes, readMeasuredIndexes } from '../../scripts/docs/indexes-page.ts'
import { errorCatalogue } from '../../services/core/errors/index.ts'
import { metricCatalogue } from '../../services/core/metrics/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'

const WITH_DEPENDENCIES = /run --rm (?!--no-deps)[^\n]*\bfiller (?:verify|digest|import-)/

/** Paths of the text files in a folder of the repository. */
function listFiles(folder: string, recursive: boolean): string[] {
  return readdirSync(join(packageRoot, folder), { recursive, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() && /(?:\.(?:md|ts|js|json|ya?ml|sh|sql|template|example)|^[^.]+)$/.test(entry.name),
    )
    .map(({ name, parentPath }) => join(parentPath, name))
}

it('the generated documentation pages equal the output of their generator', async () => {
  const pages = await renderPages()
  expect([...pages.keys()]).toEqual([
    'docs/settings.md',
    'docs/errors.md',
    'docs/endpoints.md',
    'docs/live.md',
    'docs/compatibility.md',
    'docs/metrics.md',
    'docs/indexes.md',
    'docs/performance.md',
    'docs/sizing.md',
    'docs/security.md',
    '.env.example',
    ...pinnedFiles,
  ])
  for (const [path, text] of pages) {
    expect([path, readFileSync(join(packageRoot, path), 'utf8')]).toEqual([path, text])
  }
})

it('every file uses the pinned tags of public images, and runs filler commands with --no-deps', () => {
  const checked = [
    '',
    '.ci',
    '.github',
    'config-templates',
    'docs',
    'examples',
    'infra',
    'scripts',
    'services',
    'tests',
  ]
  const files = checked.flatMap((folder) => listFiles(folder, folder !== ''))
  expect(files.length).toBeGreaterThan(1_000)
  for (const path of files) {
    const text = readFileSync(path, 'utf8')
    expect([path, text]).toEqual([path, pinImages(text)])
    expect([path, WITH_DEPENDENCIES.exec(text)?.[0]]).toEqual([path, undefined])
  }
})

it('the generated documentation pages contain a sample of the settings, every error code and every metric', async () => {
  const pages = await renderPages()
  const settings = pages.get('docs/settings.md') ?? ''
  for (const key of [
    ...['sqldb.password', 'sqldb.replicas', 'kvstore.tls', 'chain.ship', 'rate_limit.bill_execution_time'],
    ...[
      'namespaces[].args.limits.sales_v2',
      'namespaces[].args.api_features.disable_v1_sales',
      'cache_max_value_bytes',
    ],
    ...[
      '[].ship_min_block_confirmation',
      '[].contracts[].args.store_logs',
      '[].list_polls[].api_key',
      'POSTGRES_HOST',
    ],
  ]) {
    expect(settings).toContain(`\`${key}\``)
  }
  const errors = pages.get('docs/errors.md') ?? ''
  for (const code of Object.keys(errorCatalogue)) expect(errors).toContain(`\`${code}\``)
  const metrics = pages.get('docs/metrics.md') ?? ''
  for (const name of Object.keys(metricCatalogue)) expect(metrics).toContain(`| \`${name}\``)
})

/** Indexes that only seals and `/seals/rows` use. The generated traffic does not request `/seals/rows`. */
const ofSeals = new Set(['assets.logs_seq_idx', 'market.logs_seq_idx'])

it('every query index of the families assets and market is used by a measured list or by generated traffic, except the indexes of seals', () => {
  const measured = readMeasuredIndexes()
  const declared = readDeclaredIndexes()
  // Only the families `assets` and `market` have rows in the generated database, so only their indexes are measured.
  const indexes = ['assets', 'market'].flatMap((family) => declared.get(family) ?? [])
  const listed = indexes.filter(({ name }) => !ofSeals.has(name))
  expect(listed).toHaveLength(indexes.length - ofSeals.size)
  const unused = listed.filter(({ name }) => (measured.get(name)?.users ?? []).length === 0)
  expect(unused.map(({ name }) => name)).toEqual([])
})
