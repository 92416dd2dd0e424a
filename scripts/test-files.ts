/** Selects the test files of a run. */
import { globSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
/** Tests that need a real control plane: `npm run test:real`. */
const realOnly = 'test/real/'

/** Returns the test files in these files and folders; without paths, all that need no real control plane. */
export function testFiles(paths: readonly string[]): string[] {
  const inFolder = (path: string): string[] => globSync(`${path}/**/*.test.ts`, { cwd: root }).sort()
  if (paths.length === 0) return inFolder('test').filter((file) => !file.startsWith(realOnly))
  return paths.flatMap((path) => (path.endsWith('.ts') ? [path] : inFolder(path.replace(/\/+$/, ''))))
}
