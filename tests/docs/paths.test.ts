import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../services/core/paths/index.ts'

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(packageRoot, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
const textOf = (document: string): string => readFileSync(join(packageRoot, document), 'utf8')
const services = readdirSync(join(packageRoot, 'services'))

/** Finds the repository paths in backticks. A pattern counts up to its first `*`. */
function pathsIn(text: string): string[] {
  const roots = ['services', 'tests', 'scripts', 'infra', 'config-templates', 'examples', ...services]
  return [...text.matchAll(/`([\w.-]+(?:\/[\w.*-]+)+\/?)`/g)]
    .map(([, path]) => path!)
    .filter((path) => roots.includes(path.split('/')[0]!))
    .map((path) => path.replace(/\/?[^/]*\*.*$/, ''))
}

describe('paths in the documents', () => {
  it.each(documents)('%s names existing files and folders only', (document) => {
    const missing = pathsIn(textOf(document)).filter((path) =>
      ['', 'services'].every((root) => !existsSync(join(packageRoot, root, path))),
    )
    expect(missing).toEqual([])
  })

  it('the folders listed in docs/architecture.md exist', () => {
    const [, tree] = /\n {4}services\/\n([\s\S]*?)\n\n/.exec(textOf('docs/architecture.md'))!
    let service = ''
    const missing: string[] = []
    for (const line of tree!.split('\n')) {
      const [, indent = '', folder = ''] = /^( +)([\w-]+)\//.exec(line)!
      if (indent.length === 6) service = folder
      const path = indent.length === 6 ? `services/${folder}` : `services/${service}/${folder}`
      if (!existsSync(join(packageRoot, path))) missing.push(path)
    }
    expect(missing).toEqual([])
  })
})
