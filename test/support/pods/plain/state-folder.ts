/** State folders for tests of the driver `plain`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/**
 * Creates a folder, which is deleted at the end of the test. The folder is at a path that all users can reach, so another user can use the
 * folder after becoming its owner.
 */
export function newStateFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'plain-state-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
