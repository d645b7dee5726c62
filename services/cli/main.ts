#!/usr/bin/env node
import { readEnvironment } from '../core/config/environment/index.ts'
import { listenForStop } from './io.ts'
import { runCli } from './program.ts'

// Closed output (`pronghorn config print | head`, a closed terminal) is no failure of the command.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
  })
}

const exitCode = await runCli(process.argv.slice(2), {
  env: readEnvironment(),
  isTerminal: process.stdout.isTTY,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  signal: listenForStop(),
})

process.exitCode = exitCode
// Exits after a finished command even if a handle was left open; the delay lets the output drain.
setTimeout(() => process.exit(), 5_000).unref()
