import { readdirSync } from 'node:fs'
import { defineConfig } from 'rolldown'

const sources = readdirSync('scripts', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
)

/**
 * Compiles the scripts, and the modules of services that they import, file by file. Types are not checked, so a build
 * takes 4.5 s of processor time; `tsc` takes 29 s (2 cores, Node.js 20, 2026-11-30).
 */
export default defineConfig({
  input: sources.map((file) => `scripts/${file}`),
  platform: 'node',
  external: /^[^./]/,
  output: {
    dir: 'dist',
    preserveModules: true,
    preserveModulesRoot: '.',
    sourcemap: true,
    sourcemapExcludeSources: true,
  },
  logLevel: 'warn',
})
