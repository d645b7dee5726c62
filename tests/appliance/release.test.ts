import { execFile } from 'node:child_process'
import { access, constants, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { packageRoot } from '../../services/core/paths/index.ts'

const step = z.strictObject({
  name: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  run: z.string().optional(),
})

/** The part of the workflow syntax that the release uses. Any other key fails the test. */
const workflow = z.strictObject({
  name: z.string(),
  on: z.strictObject({ push: z.strictObject({ tags: z.array(z.string()) }) }),
  permissions: z.strictObject({ contents: z.literal('read') }),
  concurrency: z.strictObject({ group: z.string(), 'cancel-in-progress': z.boolean() }),
  jobs: z.strictObject({
    image: z.strictObject({
      'runs-on': z.string(),
      'timeout-minutes': z.number(),
      steps: z.array(step.refine(({ uses, run }) => (uses === undefined) !== (run === undefined))),
    }),
  }),
})

const script = join(packageRoot, '.ci/release')

async function release(environment: Record<string, string>): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment }
  return promisify(execFile)(script, ['--try'], { env }).then(
    () => 'published',
    (error: unknown) => (error as { stderr: string }).stderr,
  )
}

describe('the release', () => {
  it('the release workflow names no registry host, and inserts no GitHub context into a script', async () => {
    const text = await readFile(join(packageRoot, '.github/workflows/release.yml'), 'utf8')
    const { jobs } = workflow.parse(parse(text))
    const { steps } = jobs.image
    expect(steps.flatMap(({ uses }) => uses ?? [])).toEqual(
      ['checkout', 'setup-node', 'upload-artifact'].map((name) => `actions/${name}@v4`),
    )
    expect(text).not.toMatch(/\b(?:ghcr|docker|quay|gcr)\.io\b/)
    for (const { run = '' } of steps) {
      // Values from GitHub contexts must be environment variables: inserted into a script, they could inject commands.
      expect(run).not.toContain('${{')
      const [program = ''] = /^\.ci\/\S+/.exec(run) ?? []
      if (program !== '') await access(join(packageRoot, program), constants.X_OK)
    }
    expect(steps.some(({ run }) => run === '.ci/release')).toBe(true)
  })

  it('the release script builds every architecture with SBOM and provenance', async () => {
    const text = await readFile(script, 'utf8')
    for (const word of ['linux/amd64,linux/arm64', '--sbom=true', '--provenance=mode=max', '--push']) {
      expect(text).toContain(word)
    }
    await promisify(execFile)('bash', ['-n', script])
  })

  it('the release script refuses a missing or invalid REGISTRY and a wrong tag before it builds', async () => {
    expect(await release({})).toMatch(/^REGISTRY: found nothing/)
    expect(await release({ REGISTRY: 'https://host/x' })).toMatch(/^REGISTRY: found "https:/)
    expect(await release({ REGISTRY: 'registry.test/x', GITHUB_REF_NAME: 'v0.0.0' })).toMatch(
      /^the tag is v0\.0\.0, and package\.json says \d/,
    )
  })
})

describe('the image of the compose file', () => {
  it('Compose builds the image if PRONGHORN_IMAGE is not set; otherwise Compose can only pull the image', async () => {
    const text = await readFile(join(packageRoot, 'docker-compose.yml'), 'utf8')
    const { services } = parse(text, { merge: true }) as {
      services: Record<string, { image: string; build?: { context: string } }>
    }
    const built = Object.values(services).flatMap(({ build }) => build ?? [])
    // With PRONGHORN_IMAGE set, the build context is a folder that does not exist. So Compose cannot build a local
    // image under the name of a release.
    expect(built).toEqual([{ context: '${PRONGHORN_IMAGE:+PRONGHORN_IMAGE-is-pulled-not-built/}.' }])
    expect(services.filler?.image).toMatch(/^\$\{PRONGHORN_IMAGE:-pronghorn:/)
  })
})
