/** State folders for tests of the driver `plain`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** Creates a folder that any user can reach. It is deleted at the end of the test. */
export function newStateFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'plain-state-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
