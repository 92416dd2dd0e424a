import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { inClusterConnection, serviceAccountDirectory } from '../../src/client/in-cluster.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

const clock = new FakeClock()
const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' }

t.test('a Pod uses its environment, token, CA and namespace', async (t) => {
  const directory = t.testdir({ token: ' secret\n', 'ca.crt': 'CA\n', namespace: 'here\n' })
  const { authorization, tls, ...connection } = (await inClusterConnection({ env, directory, clock }))!
  t.strictSame(connection, {
    server: 'https://10.0.0.1:6443',
    ca: 'CA\n',
    namespace: 'here',
    inCluster: true,
    describe: `the service account of this Pod (${directory})`,
  })
  t.equal(await authorization?.(), 'Bearer secret')
  t.strictSame(await tls?.(), { ca: 'CA\n' })
})

t.test('a CA and a namespace that are not mounted are omitted', async (t) => {
  for (const files of [{ token: 'x' }, { token: 'x', namespace: '\n' }]) {
    const connection = (await inClusterConnection({ env, directory: t.testdir(files), clock }))!
    t.notOk('ca' in connection)
    t.strictSame(await connection.tls?.(), {})
    t.notOk('namespace' in connection)
  }
})

t.test('an IPv6 address is in brackets', async (t) => {
  const directory = t.testdir({ token: 'x' })
  for (const [host, server] of [
    ['fd00::1', 'https://[fd00::1]:6443'],
    ['kubernetes.default.svc', 'https://kubernetes.default.svc:6443'],
  ] as const)
    t.equal((await inClusterConnection({ env: { ...env, KUBERNETES_SERVICE_HOST: host }, directory, clock }))?.server, server)
})

t.test('without an address, a port or a token there is no in-cluster connection', async (t) => {
  const directory = t.testdir({ token: 'x' })
  for (const missing of ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'])
    for (const value of [undefined, ''])
      t.equal(await inClusterConnection({ env: { ...env, [missing]: value }, directory, clock }), undefined)
  t.equal(await inClusterConnection({ env, directory: join(directory, 'none'), clock }), undefined)
  t.equal(serviceAccountDirectory, '/var/run/secrets/kubernetes.io/serviceaccount')
})

t.test('a file that exists and cannot be read is an error', async (t) => {
  const token = t.testdir({ token: {} })
  await t.rejects(inClusterConnection({ env, directory: token, clock }), {
    code: 'PRO_KUBECONFIG',
    message: /^The token of this Pod's service account cannot be read: EISDIR\b.*\.$/,
    cause: { code: 'EISDIR' },
  })
  for (const name of ['ca.crt', 'namespace']) {
    const directory = t.testdir({ token: 'x', [name]: {} })
    const error = await inClusterConnection({ env, directory, clock }).catch((thrown: Error) => thrown)
    t.match(error, { code: 'PRO_KUBECONFIG', cause: { code: 'EISDIR' } })
    t.ok((error as Error).message.startsWith(`The file ${join(directory, name)} of this Pod's service account cannot be read: EISDIR`))
  }
})

t.test('the token is read again after a minute, or when the server refuses it', async (t) => {
  const time = new FakeClock()
  const directory = t.testdir({ token: 'one' })
  const { authorization } = (await inClusterConnection({ env, directory, clock: time }))!
  t.equal(await authorization?.(), 'Bearer one')
  await writeFile(join(directory, 'token'), 'two')
  await time.advance(59_999)
  t.equal(await authorization?.(), 'Bearer one')
  await time.advance(1)
  t.equal(await authorization?.(), 'Bearer two')
  await writeFile(join(directory, 'token'), 'three')
  t.equal(await authorization?.('Bearer two'), 'Bearer three')
})

t.test('the CA is read again with the token', async (t) => {
  const time = new FakeClock()
  const directory = t.testdir({ token: 'one', 'ca.crt': 'before' })
  const { tls } = (await inClusterConnection({ env, directory, clock: time }))!
  t.strictSame(await tls?.(), { ca: 'before' })
  await writeFile(join(directory, 'ca.crt'), 'after')
  await time.advance(59_999)
  t.strictSame(await tls?.(), { ca: 'before' })
  await time.advance(1)
  t.strictSame(await tls?.(), { ca: 'after' })
})

t.test('while the files are missing for a moment, the previous token is used', async (t) => {
  const time = new FakeClock()
  const directory = t.testdir({ token: 'one' })
  const { authorization } = (await inClusterConnection({ env, directory, clock: time }))!
  t.equal(await authorization?.(), 'Bearer one')
  await rm(join(directory, 'token'))
  await time.advance(60_000)
  t.equal(await authorization?.(), 'Bearer one')
  await writeFile(join(directory, 'token'), 'two')
  t.equal(await authorization?.(), 'Bearer two')
})

t.test('a token that is gone before the first request is an error', async (t) => {
  const directory = t.testdir({ token: 'one' })
  const { authorization } = (await inClusterConnection({ env, directory, clock }))!
  await rm(join(directory, 'token'))
  await t.rejects(async () => authorization?.(), {
    code: 'PRO_KUBECONFIG',
    message: `The token of this Pod's service account is no longer in ${directory}.`,
  })
})
