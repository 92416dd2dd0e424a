import { Readable } from 'node:stream'
import t from 'tap'
import { deferredAccess } from '../../../src/devcluster/pods/deferred-access.ts'
import type { ContainerAccess } from '../../../src/devcluster/rest/container-access.ts'

t.test('calls are refused until there is an access', async (t) => {
  const started: ContainerAccess[] = []
  const access = deferredAccess(() => started[0])
  const target = { pod: 'web', uid: 'u', container: 'main' }
  const options = { follow: false, previous: false, timestamps: false }
  const { signal } = new AbortController()
  await t.rejects(access.log(target, options, signal), { message: 'the containers of the cluster are being started' })
  await t.rejects(access.exec(target, { command: ['sh'], tty: false, stdin: false }), {
    message: 'the containers of the cluster are being started',
  })
  await t.rejects(access.attach(target, { tty: false, stdin: false }), { message: 'the containers of the cluster are being started' })
  await t.rejects(access.connect(target, 80), { message: 'the containers of the cluster are being started' })
  const log = Readable.from(['text'])
  started.push({ log: () => Promise.resolve(log) } as unknown as ContainerAccess)
  t.equal(await access.log(target, options, signal), log)
})
