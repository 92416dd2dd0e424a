import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { configMap, event } from '../../src/api/builtin.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { isNotFound } from '../../src/client/api-error.ts'
import type { ListenAddress } from '../../src/manager/listen-address.ts'
import { formatListenAddress } from '../support/listen-address.ts'
import { run } from '../../src/manager/run.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { installKinds } from '../../src/manifests/install.ts'
import { note, noteOperator, runNotes, startCluster } from '../support/manager/world.ts'
import { until } from '../../src/testing/until.ts'

async function get(address: ListenAddress | undefined, path: string): Promise<{ code: number; body: string }> {
  if (address === undefined) throw new Error('not served')
  const response = await fetch(`http://${formatListenAddress(address)}${path}`)
  return { code: response.status, body: await response.text() }
}

const object = (name: string, text = 'hello') => ({ metadata: { namespace: 'default', name }, spec: { text } }) as const

t.test('an operator admits, reconciles and reports, and stops in order', async (t) => {
  const world = await startCluster(t)
  const { client } = world
  const { endpoints, stop, done } = await runNotes(t, world)

  const created = await client.create(note, object('a') as never)
  t.equal(created.spec.author, 'nobody', 'defaults are applied')
  await t.rejects(client.create(note, object('b', 'bad') as never), {
    code: 'PRO_API',
    message: /spec\.text: Invalid value: "bad": must be good/,
  })
  const written = await until('the ConfigMap is written', () =>
    client
      .get(configMap, { namespace: 'default', name: 'a' })
      .catch((error: unknown) => (isNotFound(error) ? undefined : Promise.reject(error as Error))),
  )
  t.strictSame(written.data, { text: 'hello' })
  await until('the status is written', async () => (await client.get(note, { namespace: 'default', name: 'a' })).status?.written === true)

  await client.delete(configMap, { namespace: 'default', name: 'a' })
  await until('the ConfigMap is there again', () => client.get(configMap, { namespace: 'default', name: 'a' }).catch(() => undefined))

  t.strictSame(await get(endpoints.probes, '/readyz'), { code: 200, body: 'ok' })
  const verbose = await until('all is synced', async () => {
    const { body } = await get(endpoints.probes, '/readyz?verbose')
    return body.includes('~') ? undefined : body
  })
  t.match(verbose, '[+]webhook ok\n[+]cache/notes.example.com ok\n[+]cache/configmaps ok\n[+]controller/note ok\nreadyz check passed\n')
  const { body: metrics } = await get(endpoints.metrics, '/metrics')
  t.match(metrics, /controller_runtime_reconcile_total\{controller="note",result="success"\} [1-9]/)
  t.match(metrics, /controller_runtime_webhook_requests_total\{webhook="\/validate-example-com-v1-note",code="200"\} [1-9]/)
  t.match(metrics, /workqueue_adds_total\{name="note",controller="note"\} [1-9]/)
  t.match(metrics, /rest_client_requests_total\{code="201",method="POST",host="127\.0\.0\.1:\d+"\} [1-9]/)
  t.match(metrics, /process_resident_memory_bytes \d+/)

  stop.abort()
  await done
  const { items } = await client.list(event, { namespace: 'default' })
  t.match(
    items.find(({ reason }) => reason === 'Written'),
    { involvedObject: { kind: 'Note', name: 'a' }, reportingComponent: 'note' },
  )
  await t.rejects(get(endpoints.probes, '/healthz'))
})

t.test('/debug shows queues and cache, and metrics can be secured', async (t) => {
  const rules = [{ apiGroups: [], resources: [], nonResourceURLs: ['/metrics'], verbs: ['get'] }]
  const world = await startCluster(t, [{ name: 'scraper', token: 'scraper-token', rules }])
  const { endpoints, stop, done } = await runNotes(t, world, { debugBindAddress: '127.0.0.1:0', metricsSecure: true })
  await world.client.create(note, object('a') as never)
  await until('the type is in the cache', async () => {
    const { body } = await get(endpoints.debug, '/debug/cache')
    return /"type": "notes.example.com",\s+"version": "v1",\s+"synced": true,\s+"objects": 1/.test(body)
  })
  t.match(JSON.parse((await get(endpoints.debug, '/debug/queues')).body), { queues: [{ controller: 'note', entries: Array }] })
  const { caBundle } = endpoints.webhook!
  const scrape = async (token: string): Promise<number | undefined> => {
    const headers = { authorization: `Bearer ${token}` }
    const sent = request({ port: endpoints.metrics!.port, host: '127.0.0.1', path: '/metrics', headers, ca: caBundle, agent: false }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response.resume().statusCode
  }
  t.equal(await scrape('scraper-token'), 200, 'with the certificate of the webhooks')
  t.equal(await scrape('other'), 401)
  stop.abort()
  await done
  await t.rejects(scrape('scraper-token'))
  await t.rejects(get(endpoints.debug, '/debug'))
  const same = '127.0.0.1:18080'
  await t.rejects(runNotes(t, world, { probeBindAddress: same, metricsBindAddress: same, metricsSecure: true }), {
    code: 'PRO_CONFIG_INVALID',
    message: /are both 127\.0\.0\.1:18080, but metrics are served over HTTPS/,
  })
})

t.test('a kind that is not installed is waited for', async (t) => {
  const world = await startCluster(t)
  const { client } = world
  const { endpoints } = await runNotes(t, world, { install: false, webhookConfigurations: { mutating: [], validating: [] } })
  const verbose = await until('the missing kind is named', async () => {
    const { body } = await get(endpoints.probes, '/readyz?verbose')
    return body.includes('[~]cache/notes.example.com') ? body : undefined
  })
  t.match(verbose, /readyz check passed/)
  await installKinds(client, [noteOperator], systemClock)
  await client.create(note, object('late') as never)
  await until('it is reconciled', () => client.get(configMap, { namespace: 'default', name: 'late' }).catch(() => undefined))
})

t.test('a restart without changes writes nothing', async (t) => {
  const world = await startCluster(t)
  const { client, cluster } = world
  const certificates = { kind: 'files', directory: `${t.testdir()}/kept` } as const
  const first = await runNotes(t, world, { certificates })
  await client.create(note, object('a') as never)
  await until('the status is written', async () => (await client.get(note, { namespace: 'default', name: 'a' })).status?.written === true)
  first.stop.abort()
  await first.done

  const before = cluster.requests.length
  const { endpoints } = await runNotes(t, world, { certificates, install: false })
  await until('all is reconciled', async () => {
    const { body } = await get(endpoints.metrics, '/metrics')
    return /controller_runtime_reconcile_total\{controller="note",result="success"\} [1-9]/.test(body)
  })
  await until('the webhook configurations are checked', () =>
    cluster.requests.slice(before).some(({ verb, path }) => verb === 'get' && path.endsWith('/note-validating')),
  )
  await client.get(note, { namespace: 'default', name: 'a' }) // a pending patch would have arrived before this request
  const writes = cluster.requests.slice(before).filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
  t.strictSame(
    new Set(writes.map(({ path }) => path)),
    new Set(['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews']),
    'access reviews are not stored',
  )
})

t.test('a run without operators is refused', async (t) => {
  const connection = { server: 'https://127.0.0.1:1', describe: 'nothing' }
  for (const operators of [[], undefined, {}])
    await t.rejects(run(operators as never, { connection }), {
      code: 'PRO_CONFIG_INVALID',
      message: /^There are no operators to run: pass a list of one or more/,
    })
})

t.test('a failed start is reported in one sentence', async (t) => {
  const world = await startCluster(t, [
    { name: 'weak', token: 'weak', rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }] },
  ])
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  const cases: [string, Parameters<typeof runNotes>[2], { code: string; message?: RegExp }][] = [
    ['webhook port', { webhook: { host: '127.0.0.1', port } }, { code: 'PRO_PORT_IN_USE', message: new RegExp(String(port)) }],
    ['probe port', { probeBindAddress: `127.0.0.1:${port}` }, { code: 'PRO_PORT_IN_USE', message: /--health-probe-bind-address/ }],
    [
      'permission',
      { connection: world.cluster.connectionFor('weak') },
      { code: 'PRO_PERMISSION', message: /may not list and watch notes\.example\.com/ },
    ],
    [
      'sampling',
      { webhook: { host: '127.0.0.1', port: 0, reviewLogSampling: 2 } },
      { code: 'PRO_CONFIG_INVALID', message: /from 0 \(none\) to 1 \(all\), found 2/ },
    ],
    ['address', { metricsBindAddress: '8080' }, { code: 'PRO_CONFIG_INVALID', message: /--metrics-bind-address/ }],
    ['unreachable', { connection: { server: `https://127.0.0.1:1`, describe: 'nothing' } }, { code: 'PRO_API_UNREACHABLE' }],
  ]
  for (const [name, options, expected] of cases) await t.rejects(runNotes(t, world, options), expected, name)
})

t.test('no admission is lost while the process stops', async (t) => {
  const world = await startCluster(t)
  const { client } = world
  // With a fake clock, the test determines when the drain delay is over.
  const clock = new FakeClock(Date.now())
  const { endpoints, stop, done } = await runNotes(t, world, { clock, drainDelayMs: 10_000 })
  const failures: unknown[] = []
  let admitted = 0
  let withdrawn = false
  // The clients stop when the endpoint is withdrawn, because an API server would then send its requests to another endpoint of the Service.
  const load = Array.from({ length: 8 }, async (_, worker) => {
    for (let i = 0; !withdrawn; i++) {
      await client.create(note, object(`n-${worker}-${i}`) as never, { dryRun: true }).then(
        () => (admitted += 1),
        (error: unknown) => failures.push(error),
      )
    }
  })
  await until('there is load', () => admitted > 50)
  stop.abort()
  await until('readiness is gone', async () => (await get(endpoints.probes, '/readyz')).code === 500)
  const before = admitted
  await until('requests still pass', () => admitted > before + 50)
  withdrawn = true
  await Promise.all(load)
  let over = false
  void done.finally(() => (over = true))
  await until('the process has ended', async () => {
    await clock.advance(10_000)
    return over
  })
  t.strictSame(failures, [])
})
