/** Which test files a run is about. */
import { globSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
/** What can only be tested with a real control plane: `npm run test:real`. */
const realOnly = 'test/real/'

/** The test files in these files and folders; of no path: all that need no real control plane. */
export function testFiles(paths: readonly string[]): string[] {
  const inFolder = (path: string): string[] => globSync(`${path}/**/*.test.ts`, { cwd: root }).sort()
  if (paths.length === 0) return inFolder('test').filter((file) => !file.startsWith(realOnly))
  return paths.flatMap((path) => (path.endsWith('.ts') ? [path] : inFolder(path.replace(/\/+$/, ''))))
}
