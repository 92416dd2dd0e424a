/** Determines which test files a run executes. */
import { globSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
/** The folder of tests that need a real control plane. `npm run test:real` runs them. */
const realOnly = 'test/real/'

/**
 * Returns the given test files, and the test files in the given folders. Without paths, returns all test files that need no real control
 * plane.
 */
export function testFiles(paths: readonly string[]): string[] {
  const inFolder = (path: string): string[] => globSync(`${path}/**/*.test.ts`, { cwd: root }).sort()
  if (paths.length === 0) return inFolder('test').filter((file) => !file.startsWith(realOnly))
  return paths.flatMap((path) => (path.endsWith('.ts') ? [path] : inFolder(path.replace(/\/+$/, ''))))
}
