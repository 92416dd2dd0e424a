/** Tests of the fault proxy in front of each control plane. */
import { existsSync } from 'node:fs'
import t from 'tap'
import type { Test } from 'tap'
import { configMap } from '../../src/api/builtin.ts'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/client.ts'
import type { Connection } from '../../src/client/connection.ts'
import { loadConnection } from '../../src/client/kubeconfig.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-faults'
const configMaps = { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }
const controlPlane = await conformanceControlPlane(t, {
  controllers: false,
  namespaces: [namespace],
  users: [{ name: 'reader', rules: [{ ...configMaps, verbs: ['get', 'list'] }] }],
})
const { client } = controlPlane

function clientOf(t: Test, connection: Connection, options: { timeoutMs?: number } = {}): Client {
  const made = createClient(connection, options)
  t.teardown(() => made.close())
  return made
}

/**
 * Lists ConfigMaps, and then watches them. Returns an object that is updated during the list and the watch:
 *
 * - `seen`: the text `listed`, which is added after the list, and then the name of the object of each watch event.
 * - `error`: the error that ended the list or the watch; undefined if there was no error.
 * - `ended`: true after the end of the watch, or after an error.
 */
function record(t: Test, watching: Client) {
  const stop = new AbortController()
  const seen: string[] = []
  const state = { seen, error: undefined as unknown, ended: false }
  const run = async (): Promise<void> => {
    const { metadata } = await watching.list(configMap, { namespace, signal: stop.signal })
    const options = {
      namespace,
      signal: stop.signal,
      ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
    }
    seen.push('listed')
    for await (const { object } of watching.watch(configMap, options)) seen.push(object.metadata.name)
  }
  const done = run()
    .catch((error: unknown) => (state.error = error))
    .finally(() => (state.ended = true))
  t.teardown(async () => {
    stop.abort()
    await done
  })
  return state
}

const create = (name: string): Promise<unknown> => client.create(configMap, { metadata: { namespace, name } })

t.test('the proxy forwards requests and watches unchanged', async (t) => {
  const proxy = await controlPlane.faultProxy()
  t.not(proxy.connection.server, controlPlane.connection.server)
  const [direct, through] = [apiOf(t, controlPlane.connection), apiOf(t, proxy.connection)]
  for (const [method, path, body] of [
    ['GET', '/version'],
    ['GET', `/api/v1/namespaces/${namespace}/configmaps/none`],
    ['GET', '/nowhere'],
    ['POST', `/api/v1/namespaces/${namespace}/configmaps?dryRun=All&fieldValidation=Strict`, { metadata: { name: 'a' }, dta: {} }],
    ['DELETE', `/api/v1/namespaces/${namespace}/configmaps/none`, { kind: 'DeleteOptions', apiVersion: 'v1' }],
  ] as const) {
    const [one, two] = [await direct(method, path, { body }), await through(method, path, { body })]
    t.equal(two.status, one.status, path)
    t.equal(two.text, one.text)
    t.equal(two.headers['content-type'], one.headers['content-type'])
    t.strictSame(two.warnings, one.warnings)
  }
  const big = 'x'.repeat(900_000)
  const proxied = clientOf(t, proxy.connection)
  await proxied.create(configMap, { metadata: { namespace, name: 'big' }, data: { big } })
  t.equal((await proxied.get(configMap, { namespace, name: 'big' })).data?.['big'], big)

  const watch = record(t, proxied)
  await until('the watch is open', () => watch.seen.length === 1)
  for (const name of ['one', 'two', 'three']) {
    await create(name)
    await until(`${name} comes at once`, () => watch.seen.at(-1) === name)
  }
})

t.test('requests keep the user of the proxied connection', async (t) => {
  const proxy = await controlPlane.faultProxy()
  const reader = clientOf(t, proxy.through(controlPlane.connectionFor('reader')))
  await until('the rules hold', () => reader.list(configMap, { namespace }))
  await t.rejects(reader.create(configMap, { metadata: { namespace, name: 'x' } }), {
    statusCode: 403,
    message: `configmaps is forbidden: User "reader" cannot create resource "configmaps" in API group "" in the namespace "${namespace}"`,
  })
  const stranger = clientOf(t, { ...proxy.connection, authorization: () => Promise.resolve('Bearer unknown') })
  await t.rejects(stranger.list(configMap, { namespace }), { message: 'Unauthorized' })
  const nobody = clientOf(t, { server: proxy.connection.server, ca: proxy.connection.ca!, describe: 'nobody' })
  await t.rejects(nobody.list(configMap, { namespace }), { name: 'ApiError' }, 'the proxy does not add its credentials')
  t.throws(() => proxy.through({ server: 'https://127.0.0.1:1', describe: 'x' }), { code: 'PRO_INPUT' })
})

t.test('the proxy answers a given number of matching requests with 429, 500 or 503 and a Status', async (t) => {
  const proxy = await controlPlane.faultProxy()
  const api = apiOf(t, proxy.connection)
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const busy = proxy.answer(429, { retryAfterSeconds: 7, count: 2, match: (request) => request.method === 'GET' && request.path === path })
  const broken = proxy.answer(500, { match: ({ query }) => query.get('limit') === '1', message: 'etcdserver: request timed out' })
  t.equal((await api('GET', '/version')).status, 200)
  for (let i = 0; i < 2; i++) {
    const { status, headers, body } = await api('GET', `${path}?limit=1`)
    t.equal(status, 429)
    t.equal(headers['retry-after'], '7')
    t.strictSame(body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Too many requests, please try again later.',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 7 },
      code: 429,
    })
  }
  t.match(await api('GET', `${path}?limit=1`), {
    status: 500,
    headers: { 'retry-after': undefined },
    body: { message: 'etcdserver: request timed out' },
  })
  t.equal((await api('GET', path)).status, 200)
  t.strictSame([busy.answered, broken.answered], [2, 1])
  broken.end()
  t.equal((await api('GET', `${path}?limit=1`)).status, 200)
  proxy.answer(503)
  t.match(await api('POST', path, { body: { metadata: { name: 'refused' } } }), { status: 503, body: { reason: 'ServiceUnavailable' } })
  proxy.heal()
  t.equal((await api('GET', `${path}/refused`)).status, 404, 'the request did not reach the API server')
})

t.test('a client retries after 429 with Retry-After', async (t) => {
  const proxy = await controlPlane.faultProxy()
  const busy = proxy.answer(429, { retryAfterSeconds: 1, count: 1 })
  await clientOf(t, proxy.connection).raw('/version')
  t.equal(busy.answered, 1)
})

t.test('a cut connection fails immediately, and the next request succeeds', async (t) => {
  const proxy = await controlPlane.faultProxy()
  const proxied = clientOf(t, proxy.connection)
  const watch = record(t, proxied)
  await until('the watch is open', () => watch.seen.length === 1)
  await create('before-cut')
  await until('it hears', () => watch.seen.includes('before-cut'))
  proxy.cut()
  await until('the watch has ended', () => watch.ended)
  t.match(watch.error, { code: 'PRO_API_UNREACHABLE' })
  t.equal(proxy.connections.length, 0)
  await proxied.raw('/readyz')
  const away = proxy.cut({ alsoNew: true })
  await t.rejects(proxied.raw('/readyz'), { code: 'PRO_API_UNREACHABLE' })
  away.end()
  await proxied.raw('/readyz')
})

t.test('a half-open watch is silent and continues where it stopped', async (t) => {
  const proxy = await controlPlane.faultProxy()
  const watch = record(t, clientOf(t, proxy.connection))
  await until('the watch is open', () => watch.seen.length === 1)
  await create('before')
  await until('it hears', () => watch.seen.includes('before'))
  const dead = proxy.halfOpen({ alsoNew: true })
  await create('meanwhile')
  const impatient = clientOf(t, proxy.connection, { timeoutMs: 300 })
  await t.rejects(impatient.raw('/readyz'), { code: 'PRO_API_UNREACHABLE' }, 'new connections get no response')
  t.notOk(watch.seen.includes('meanwhile'))
  t.notOk(watch.ended)
  dead.end()
  await until('it hears again', () => watch.seen.includes('meanwhile'))
  proxy.delay(100)
  const started = performance.now()
  await clientOf(t, proxy.connection).raw('/readyz')
  t.ok(performance.now() - started >= 198, 'both directions are delayed')
})

t.test('the kubeconfig of the proxy is that of the administrator', needsKubectl, async (t) => {
  const proxy = await controlPlane.faultProxy()
  const kubectl = kubectlAs(t, proxy.kubeconfig)
  t.match(await kubectl.ok(`get configmaps -n ${namespace} -o name`), 'configmap/')
  proxy.answer(503, { message: 'the server is away' })
  t.match(await kubectl(`get configmaps -n ${namespace}`), { code: 1, stderr: /the server is away|unable to handle the request/ })
})

t.test('a stopped proxy leaves neither connections nor files', async (t) => {
  const proxy = await controlPlane.faultProxy()
  const proxied = clientOf(t, await loadConnection({ env: { KUBECONFIG: proxy.kubeconfig } }))
  const watch = record(t, proxied)
  await until('the watch is open', () => watch.seen.length === 1)
  proxy.halfOpen()
  await Promise.all([proxy.stop(), proxy.stop()])
  await until('the watch has ended', () => watch.ended)
  t.notOk(existsSync(proxy.kubeconfig))
  await t.rejects(proxied.raw('/readyz'), { code: 'PRO_API_UNREACHABLE' })
})
