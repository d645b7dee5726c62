import { execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless, findProgram } from '../setup/available.ts'
import { composeSources, whyNoCompose } from './engine.ts'

describeUnless(whyNoCompose(), 'scripts/smoke-test without Node.js', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pronghorn-smoke-'))
    for (const name of ['scripts', 'programs']) await mkdir(join(folder, name))
    for (const name of [...composeSources, 'scripts/smoke-test', 'scripts/image.sh'])
      await cp(join(packageRoot, name), join(folder, name))
    // Replaces `docker run` by a script that prints its arguments. Other commands go to the real docker.
    const docker = `#!/bin/sh\n[ "$1" != run ] || { echo "$@"; exit; }\nexec ${findProgram('docker')!} "$@"\n`
    await writeFile(join(folder, 'programs/docker'), docker, { mode: 0o755 })
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each([
    ['', 'pronghorn:1.0.0'],
    ['PRONGHORN_IMAGE=registry.guild.example/pronghorn:1.0.0', 'registry.guild.example/pronghorn:1.0.0'],
    ['export PRONGHORN_IMAGE="guild/pronghorn:2" # tried', 'guild/pronghorn:2'],
    // Compose cannot parse this .env.
    ['POSTGRES_BUNDLED=no\nCACHE_LIFE="2', 'pronghorn:1.0.0'],
  ])('scripts/smoke-test runs the image that .env names: %s', async (line, image) => {
    await writeFile(join(folder, '.env'), `${line}\n`)
    const { PRONGHORN_IMAGE: _, ...environment } = process.env
    const env = { ...environment, PATH: [join(folder, 'programs'), process.env.PATH].join(delimiter) }
    const output = execFileSync(
      join(folder, 'scripts/smoke-test'),
      ['https://localhost:8443', '--insecure'],
      {
        cwd: tmpdir(),
        env,
        encoding: 'utf8',
      },
    )
    expect(output).toBe(`run --rm --network host ${image} smoke-test https://localhost:8443 --insecure\n`)
  })
})
