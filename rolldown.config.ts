import { defineConfig } from 'rolldown'

/**
 * Bundles the programs of the product, because Node.js starts a process from a few large files faster than from a
 * thousand small ones: `pronghorn --help` takes 0.26 s of processor time in place of 0.48, `pronghorn standalone` up to
 * its first answer 3.7 s in place of 4.9 (2 cores, Node.js 20, medians of three starts, 2026-11-30).
 */
export default defineConfig({
  input: {
    'cli/main': 'services/cli/main.ts',
    'filler/reader-thread': 'services/filler/reader-thread.ts',
    'api/workers/worker-process': 'services/api/workers/worker-process.ts',
  },
  platform: 'node',
  // Packages that read files of their own folder, and a native package that `pg` can use but Pronghorn does not install.
  external: ['ioredis', 'pino', 'socket.io', 'pg-native'],
  output: {
    dir: 'dist/services',
    chunkFileNames: 'chunks/[name].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
    comments: { legal: true, annotation: false, jsdoc: false },
  },
  logLevel: 'warn',
  // `depd`, a package of Koa, calls `eval` with its own text.
  checks: { eval: false },
  plugins: [
    {
      name: 'no-own-folder',
      renderChunk(code, { fileName }) {
        const found = /\b__(?:dirname|filename)\b/.exec(code)
        if (found) this.error(`${fileName} has ${found[0]}: the package that uses it must be in \`external\``)
      },
    },
  ],
})
