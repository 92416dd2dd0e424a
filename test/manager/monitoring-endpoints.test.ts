/**
 * Tests the servers for metrics and `/debug` over real connections. The servers check the permissions of their clients by sending
 * TokenReviews and SubjectAccessReviews to an embedded API server.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get as getPlain } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { openFileCertificates } from '../../src/certs/file-store.ts'
import { openMemoryCertificates } from '../../src/certs/memory-store.ts'
import { startDevCluster, type DevClusterUser } from '../../src/devcluster/dev-cluster.ts'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/client.ts'
import type { ListenAddress } from '../../src/manager/listen-address.ts'
import { startMonitoring, type MonitoringEndpoints, type MonitoringOptions } from '../../src/manager/monitoring-endpoints.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { until } from '../../src/testing/until.ts'

const names = { names: ['localhost'], ips: ['127.0.0.1'] }
const logger = silentLogger()
const clock = systemClock

async function start(t: Test, options: Partial<MonitoringOptions>): Promise<MonitoringEndpoints> {
  const monitoring = await startMonitoring({
    metricsBindAddress: '0',
    debugBindAddress: '0',
    ...names,
    tls: {},
    metrics: new Metrics(),
    debug: { queues: () => new Map(), cache: () => [], memoryLimitBytes: 2 ** 30 },
    client: { create: () => Promise.reject(new Error('no API server')) } as unknown as Client,
    clock,
    logger,
    ...options,
  })
  t.after(() => monitoring.close())
  return monitoring
}

interface Response {
  readonly code: number
  readonly body: string
  readonly serial: string
}

async function get({ port }: ListenAddress, path: string, token?: string, method = 'GET'): Promise<Response> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const sent = request({ port, host: '127.0.0.1', path, method, headers, rejectUnauthorized: false, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate()
  return { code: response.statusCode!, body: await text(response), serial: serialNumber }
}

const rights = (nonResourceURLs: string[], verbs: string[]): DevClusterUser['rules'] => [
  { apiGroups: [], resources: [], nonResourceURLs, verbs },
]

t.test('secured metrics and debugging are served to users with the permission', async (t) => {
  const users = [
    { name: 'prometheus', token: 'prometheus-token', rules: rights(['/metrics'], ['get']) },
    { name: 'developer', token: 'developer-token', rules: rights(['/debug', '/debug/*'], ['get', 'put']) },
  ]
  const cluster = await startDevCluster({ port: 0, namespaces: [], users, controllers: false, logger })
  const client = createClient(cluster.connection)
  t.after(async () => {
    await client.close()
    await cluster.close()
  })
  // An address without a host is not a loopback address, so `/debug` is secured, too.
  const { metrics, debug, certificateTask } = await start(t, { client, metricsBindAddress: '127.0.0.1:0', debugBindAddress: ':0' })
  t.equal(certificateTask!.state, 'running')
  t.match(await get(metrics!, '/metrics', 'prometheus-token'), { code: 200, body: /rest_client_requests_total/ })
  t.match(await get(metrics!, '/metrics', 'developer-token'), { code: 403 })
  t.match(await get(metrics!, '/metrics', 'nobody'), { code: 401 })
  t.match(await get(metrics!, '/metrics'), { code: 401 })
  t.match(await get(metrics!, '/other', 'prometheus-token'), { code: 404 })
  t.match(await get(metrics!, '/other'), { code: 401 })
  t.match(await get(debug!, '/debug/queues', 'developer-token'), { code: 200 })
  t.match(await get(debug!, '/debug/log-level?level=silent', 'developer-token', 'PUT'), { code: 200 })
  t.match(await get(debug!, '/debug/queues', 'prometheus-token'), { code: 403 })
  t.match(await get(debug!, '/debug/queues'), { code: 401 })
  await t.rejects(fetch(`http://127.0.0.1:${metrics!.port}/metrics`), 'plain HTTP is not answered')
})

t.test('debugging on loopback is plain, without authentication, and not for other host names', async (t) => {
  const { debug, metrics, certificateTask } = await start(t, { debugBindAddress: '127.0.0.1:0' })
  t.strictSame([metrics, certificateTask], [undefined, undefined])
  const url = `http://127.0.0.1:${debug!.port}/debug`
  t.equal((await fetch(url)).status, 200)
  t.equal((await fetch(`${url}/log-level?level=silent`, { method: 'PUT' })).status, 200)
  t.equal((await fetch(`${url}/log-level?level=silent`, { method: 'PUT', body: 'x' })).status, 413)
  t.equal((await fetch(url, { method: 'POST' })).status, 405)
  const rebound = getPlain({ port: debug!.port, host: '127.0.0.1', path: '/debug', headers: { host: 'evil.example.com' } })
  const [response] = (await once(rebound, 'response')) as [IncomingMessage]
  t.equal(response.resume().statusCode, 403)
})

t.test('the certificate is that of the webhooks, and changes when it is renewed', async (t) => {
  const first = await openMemoryCertificates({ ...names, clock, logger })
  const second = await openMemoryCertificates({ ...names, clock, logger })
  const listeners = new Set<(certificate: ReturnType<typeof first.current>) => void>()
  const certificates = {
    ...first,
    onChange: (listener: (certificate: ReturnType<typeof first.current>) => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const { metrics, certificateTask, close } = await start(t, { certificates: certificates as never, metricsBindAddress: '127.0.0.1:0' })
  t.equal(certificateTask, undefined, 'its renewal is not the task of these servers')
  const { serial } = await get(metrics!, '/metrics')
  for (const listener of listeners) listener(second.current())
  t.not((await get(metrics!, '/metrics')).serial, serial)
  await close()
  t.equal(listeners.size, 0)
})

t.test('a given folder has the certificate', async (t) => {
  const directory = join(t.testdir(), 'metrics')
  await openFileCertificates({ directory, ...names, clock, logger })
  const own = await openFileCertificates({ directory, ...names, clock, logger })
  const others = await openMemoryCertificates({ ...names, clock, logger })
  const { metrics, close } = await start(t, { certDir: directory, certificates: others, metricsBindAddress: '127.0.0.1:0' })
  const socket = connect({ port: metrics!.port, host: '127.0.0.1', ca: own.current().caBundle })
  await once(socket, 'secureConnect')
  t.equal(socket.authorized, true)
  socket.destroy()
  await close() // before the folder is removed
})

t.test('old TLS versions, slow handshakes and huge headers do not get far', async (t) => {
  const { metrics } = await start(t, { metricsBindAddress: '127.0.0.1:0' })
  const old = connect({ port: metrics!.port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' })
  const [error] = (await once(old, 'error')) as [Error]
  t.ok(error)
  t.match(await get(metrics!, '/metrics', 'a'.repeat(12_000)), { code: 500 }, 'a long token is reviewed')
  t.match(await get(metrics!, '/metrics', 'a'.repeat(20_000)), { code: 431 })
  const idle = Array.from({ length: 100 }, () => connect({ port: metrics!.port, host: '127.0.0.1', rejectUnauthorized: false }))
  for (const socket of idle) socket.on('error', () => undefined)
  t.after(() => idle.forEach((socket) => socket.destroy()))
  await until(
    'a request is answered beside idle connections',
    async () => (await get(metrics!, '/metrics').catch(() => undefined))?.code === 401,
  )
})

t.test('a taken or malformed address leaves nothing running', async (t) => {
  const { metrics } = await start(t, { metricsBindAddress: '127.0.0.1:0' })
  const taken = `127.0.0.1:${metrics!.port}`
  await t.rejects(start(t, { metricsBindAddress: '127.0.0.1:0', debugBindAddress: taken }), {
    code: 'PRO_PORT_IN_USE',
    message: /--debug-bind-address/,
  })
  await t.rejects(start(t, { debugBindAddress: '6060' }), { code: 'PRO_CONFIG_INVALID', message: /--debug-bind-address is "6060"/ })
})
