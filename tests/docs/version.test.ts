import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../services/core/paths/index.ts'

const read = (file: string) => readFileSync(join(packageRoot, file), 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string }

it.each([
  ['CHANGELOG.md', /^## \[([^\]]+)\]/m],
  ['Dockerfile', /image\.version="([^"]+)"/],
  ['docker-compose.yml', /PRONGHORN_IMAGE:-pronghorn:([^}]+)\}/],
])('%s names the version of package.json', (file, pattern) => {
  expect(pattern.exec(read(file))?.[1]).toBe(version)
})
