import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { core } from '../../../../src/api/kubernetes/core.ts'
import type { Client } from '../../../../src/client/client.ts'
import { cleanState, podCleaner, volumeCleaner } from '../../../../src/devcluster/pods/runtime/state-cleaner.ts'
import { defineOperator } from '../../../../src/manager/operator.ts'
import { startControlPlane } from '../../../../src/testing/control-plane.ts'
import { until } from '../../../../src/testing/until.ts'

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

t.test('the files of Pods and PersistentVolumes that are deleted before the controllers run are removed', async (t) => {
  const stateFolder = t.testdir()
  const controlPlane = await startControlPlane({ backend: 'embedded', controllers: false, namespaces: ['a'] })
  t.teardown(() => controlPlane.stop())
  const { client } = controlPlane
  const create = async (name: string): Promise<string> => {
    const { metadata } = await client.create(core.pod, {
      metadata: { namespace: 'a', name },
      spec: { containers: [{ name: 'main', image: 'x' }], automountServiceAccountToken: false },
    })
    for (const parent of ['pods', 'logs']) mkdirSync(join(stateFolder, parent, metadata.uid), { recursive: true })
    return metadata.uid
  }
  const remove = (name: string): Promise<unknown> => client.delete(core.pod, { namespace: 'a', name }, { gracePeriodSeconds: 0 })
  const [kept, gone, replaced, run] = [await create('kept'), await create('gone'), await create('replaced'), await create('run')]
  for (const name of ['kept', 'gone']) {
    await client.create(core.persistentVolume, {
      metadata: { name },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
    })
    mkdirSync(join(stateFolder, 'persistent-volumes', name), { recursive: true })
  }
  const existing = await cleanState(client, { stateFolder, onProblem: t.fail })
  for (const name of ['gone', 'replaced', 'run']) await remove(name)
  const successor = await create('replaced')
  await client.patch(core.persistentVolume, { name: 'gone' }, { metadata: { finalizers: null } })
  await client.delete(core.persistentVolume, { name: 'gone' })
  const operator = defineOperator({
    name: 'cleaner',
    kinds: [],
    controllers: [podCleaner({ stateFolder }, existing, (uid) => uid === run), volumeCleaner({ stateFolder }, existing)],
  })
  const started = await controlPlane.startOperator([operator])
  t.teardown(() => started.stop())
  const left = (parent: string): readonly string[] => readdirSync(join(stateFolder, parent)).sort()
  const isClean = (): boolean =>
    ['pods', 'logs', 'persistent-volumes'].every((parent) => left(parent).length === (parent === 'persistent-volumes' ? 1 : 3))
  await until('the folders of deleted objects are removed', isClean)
  for (const parent of ['pods', 'logs'])
    t.strictSame(left(parent), [kept, run, successor].sort(), 'the runtime removes the files of the Pod that it runs')
  t.strictSame(left('persistent-volumes'), ['kept'])
  t.notOk([gone, replaced].some((uid) => existsSync(join(stateFolder, 'pods', uid))))
  await remove('kept')
  await until('the files of a Pod that is deleted later are removed', () => !existsSync(join(stateFolder, 'pods', kept)))
})
