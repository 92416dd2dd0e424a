/** Runs the named benchmark, for example `npm run bench -- webhook`. */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'

const [name, ...args] = process.argv.slice(2)
const names = globSync('*.bench.ts', { cwd: import.meta.dirname }).map((file) => basename(file, '.bench.ts'))
if (name === undefined || !names.includes(name)) {
  process.stderr.write(`Which benchmark? npm run bench -- NAME, where NAME is one of: ${names.join(', ')}.\n`)
  process.exitCode = 2
} else {
  const child = spawn(process.execPath, ['--conditions=proreus-source', join(import.meta.dirname, `${name}.bench.ts`), ...args], {
    stdio: 'inherit',
  })
  child.on('close', (code) => (process.exitCode = code ?? 1))
}
