/** Runs the named drill, for example `npm run drill -- soak --seconds 180`. */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'

const folder = join(import.meta.dirname, '../drills')
const [name, ...args] = process.argv.slice(2)
const names = globSync('*.drill.ts', { cwd: folder }).map((file) => basename(file, '.drill.ts'))
if (name === undefined || !names.includes(name)) {
  process.stderr.write(`Which drill? npm run drill -- NAME, where NAME is one of: ${names.join(', ')}.\n`)
  process.exitCode = 2
} else {
  const child = spawn(process.execPath, ['--conditions=proreus-source', join(folder, `${name}.drill.ts`), ...args], { stdio: 'inherit' })
  child.on('close', (code) => (process.exitCode = code ?? 1))
}
