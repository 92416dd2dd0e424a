/** Tests of `SourceFiles`: changes of the source files that a process has loaded are detected. */
import { mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Change } from '../../../src/cli/watch/source-files.ts'
import { SourceFiles } from '../../../src/cli/watch/source-files.ts'
import { sourceFile } from '../../../src/cli/watch/source-file.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { eventually } from '../../support/eventually.ts'
import { recordingLogger } from '../../support/recording-logger.ts'

/** Creates a folder with `a.ts` and `lib/b.ts`, and adds these files to a `SourceFiles`. */
function world(t: Test) {
  const folder = t.testdir({ 'a.ts': 'a', lib: { 'b.ts': 'b' } })
  const [a, b] = [join(folder, 'a.ts'), join(folder, 'lib/b.ts')]
  const { logger } = recordingLogger()
  const files = new SourceFiles({ clock: systemClock, logger })
  const stop = new AbortController()
  t.teardown(() => files.close())
  files.add(sourceFile(a))
  files.add(sourceFile(b))
  /**
   * Applies a change, and waits until the change is detected. Then simulates a new process that loads `a.ts` and `lib/b.ts`. Resolves with
   * the paths of the changed files.
   */
  const changedBy = async (change: () => void): Promise<readonly string[]> => {
    const noticed = files.nextChange(stop.signal)
    change()
    const { paths } = await noticed
    files.begin()
    for (const path of [a, b]) files.add(sourceFile(path))
    return paths
  }
  return { folder, a, b, files, stop, changedBy }
}

t.test('changes are noticed, however an editor or git writes the file', async (t) => {
  const { folder, a, b, changedBy } = world(t)
  const replace = (): void => {
    writeFileSync(join(folder, 'a.tmp'), 'replaced')
    renameSync(join(folder, 'a.tmp'), a)
  }
  /** Replaces the folder `lib`. The new folder can have the same inode as the old folder. */
  const replaceFolder = (): void => {
    rmSync(join(folder, 'lib'), { recursive: true })
    mkdirSync(join(folder, 'lib'))
    writeFileSync(b, 'new')
  }
  const steps: [string, () => void, string][] = [
    ['written in place', () => writeFileSync(a, 'longer'), a],
    ['written again with the same size', () => writeFileSync(a, 'LONGER'), a],
    ['replaced', replace, a],
    ['replaced again', replace, a],
    ['in another folder', () => writeFileSync(b, 'longer'), b],
    ['deleted', () => unlinkSync(a), a],
    ['created again', () => writeFileSync(a, 'again'), a],
    ['deleted with its folder', () => rmSync(join(folder, 'lib'), { recursive: true }), b],
    ['created with its folder', () => (mkdirSync(join(folder, 'lib')), writeFileSync(b, 'again')), b],
    ['written after that', () => writeFileSync(b, 'and again'), b],
    ['replaced with its folder', replaceFolder, b],
    ['written after that, too', () => writeFileSync(b, 'and again'), b],
  ]
  for (const [name, change, path] of steps) t.strictSame(await changedBy(change), [path], name)
})

t.test('a burst of changes is one change, and other files do not count', async (t) => {
  const { folder, a, b, files, stop, changedBy } = world(t)
  const paths = await changedBy(() => {
    for (let index = 0; index < 10; index += 1) for (const path of [a, b]) writeFileSync(path, 'x'.repeat(index))
  })
  t.strictSame(paths, [a, b])
  const next = files.nextChange(stop.signal)
  writeFileSync(join(folder, 'other.ts'), '')
  writeFileSync(join(folder, 'lib/other.ts'), '')
  writeFileSync(b, 'last')
  t.strictSame((await next).paths, [b])
})

t.test('a change before the file is watched is noticed, and so is a missing file that appears', async (t) => {
  const { folder, a, files, stop } = world(t)
  const loaded = sourceFile(a)
  writeFileSync(a, 'changed since')
  files.add(loaded)
  t.strictSame((await files.nextChange(stop.signal)).paths, [a])
  files.begin()
  const missing = join(folder, 'new/deep/c.ts')
  files.add(sourceFile(missing))
  const next = files.nextChange(stop.signal)
  mkdirSync(join(folder, 'new'))
  mkdirSync(join(folder, 'new/deep'))
  writeFileSync(missing, 'c')
  t.strictSame((await next).paths, [missing])
})

t.test('a file that has changed before it is added is noticed while the next change is awaited', async (t) => {
  const { folder, files, stop } = world(t)
  mkdirSync(join(folder, 'unwatched'))
  const path = join(folder, 'unwatched/c.ts')
  writeFileSync(path, 'c')
  const loaded = sourceFile(path)
  writeFileSync(path, 'changed')
  const next = files.nextChange(stop.signal)
  files.add(loaded)
  t.strictSame((await next).paths, [path])
})

t.test('a burst of changes without an end is a change, too', async (t) => {
  const { logger } = recordingLogger()
  // The clock stands still, so the pause that ends a burst of changes never comes.
  const files = new SourceFiles({ clock: new FakeClock(), logger })
  t.teardown(() => files.close())
  const path = join(t.testdir({ 'a.ts': 'a' }), 'a.ts')
  const next = files.nextChange(new AbortController().signal)
  let change: Change | undefined
  void next.then((found) => (change = found))
  await eventually(() => {
    // A file whose current state differs from the loaded state counts as a change.
    files.add({ path, state: 'another' })
    return change !== undefined
  })
  t.strictSame(change?.paths, [path])
})

t.test('files that a new process does not load are forgotten when it is ready', async (t) => {
  const { a, b, files, stop } = world(t)
  files.begin()
  files.add(sourceFile(a))
  const next = files.nextChange(stop.signal)
  t.equal(files.size, 2, 'until then, they count')
  files.removeOthers()
  t.equal(files.size, 1)
  writeFileSync(b, 'changed')
  writeFileSync(a, 'changed')
  t.strictSame((await next).paths, [a])
})

t.test('the wait ends when the signal aborts', async (t) => {
  const { files, stop } = world(t)
  const next = files.nextChange(stop.signal)
  const reason = new Error('stopped')
  stop.abort(reason)
  await t.rejects(next, reason)
})
