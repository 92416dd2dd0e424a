import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Client } from '../../../../src/client/client.ts'
import { cleanState } from '../../../../src/devcluster/pods/runtime/state-cleaner.ts'

/** A client of a cluster that has one Pod and one PersistentVolume. */
const client = {
  list: (type: { kind: string }) => Promise.resolve({ items: [{ metadata: type.kind === 'Pod' ? { uid: 'kept' } : { name: 'kept' } }] }),
} as unknown as Client

t.test('the files of Pods and PersistentVolumes that do not exist are removed', async (t) => {
  const stateFolder = t.testdir()
  const folders = ['pods', 'logs', 'persistent-volumes'].flatMap((parent) =>
    ['kept', 'gone'].map((name) => join(stateFolder, parent, name)),
  )
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'file'), '')
  }
  await cleanState(client, { stateFolder, onProblem: t.fail })
  for (const folder of folders) t.equal(existsSync(folder), folder.endsWith('kept'), folder)
})

t.test('a folder without files is no error', async (t) => {
  await t.resolves(cleanState(client, { stateFolder: join(t.testdir(), 'new'), onProblem: t.fail }))
})

t.test('a folder that cannot be removed is a problem, and the others are removed', async (t) => {
  const stateFolder = t.testdir()
  for (const name of ['a', 'b', 'c']) mkdirSync(join(stateFolder, 'pods', name), { recursive: true })
  const removed: string[] = []
  const removeFolder = async (path: string): Promise<void> => {
    await Promise.resolve()
    if (path.endsWith('/b')) throw new Error('permission denied')
    removed.push(path)
  }
  const problems: Error[] = []
  await cleanState(client, { stateFolder, removeFolder, onProblem: (error) => problems.push(error) })
  t.strictSame(removed, [join(stateFolder, 'pods/a'), join(stateFolder, 'pods/c')])
  t.match(problems, [{ message: 'permission denied' }])
})
