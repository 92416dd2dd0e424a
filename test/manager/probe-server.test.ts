import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { ListenAddress } from '../../src/manager/listen-address.ts'
import { formatListenAddress } from '../support/listen-address.ts'
import { startProbes } from '../../src/manager/probe-server.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { freePort } from '../support/process/free-port.ts'

const loopback = '127.0.0.1:0'
async function get(
  address: ListenAddress | undefined,
  path: string,
  method = 'GET',
): Promise<{ code: number; body: string; type: string | null }> {
  if (address === undefined) throw new Error('not served')
  const response = await fetch(`http://${formatListenAddress(address)}${path}`, { method })
  return { code: response.status, body: await response.text(), type: response.headers.get('content-type') }
}

t.test('probes and metrics are served at their own addresses', async (t) => {
  const metrics = new Metrics()
  metrics.controller('thing')
  let problem: string | undefined = 'not yet'
  let failure = ''
  const probes = await startProbes({
    probeBindAddress: loopback,
    metricsBindAddress: loopback,
    metrics,
    clock: systemClock,
    logger: silentLogger(),
    liveness: () => [{ name: 'controller/thing', problem: () => failure || undefined }],
    readiness: () => [{ name: 'webhook', problem: () => problem }],
  })
  t.teardown(() => probes.close())
  const type = 'text/plain; charset=utf-8'
  t.strictSame(await get(probes.probes, '/healthz'), { code: 200, body: 'ok', type })
  t.strictSame(await get(probes.probes, '/readyz'), {
    code: 500,
    body: '[+]ping ok\n[-]webhook failed: not yet\nreadyz check failed\n',
    type,
  })
  problem = undefined
  t.match(await get(probes.probes, '/readyz'), { code: 200, body: 'ok' })
  t.match(await get(probes.probes, '/readyz/webhook'), { code: 200, body: 'ok' })
  failure = 'has failed: out of luck'
  t.strictSame(await get(probes.probes, '/healthz'), {
    code: 500,
    body: '[+]ping ok\n[-]controller/thing failed: has failed: out of luck\nhealthz check failed\n',
    type,
  })
  t.strictSame(await get(probes.probes, '/readyz'), { code: 200, body: 'ok', type })
  t.strictSame(await get(probes.probes, '/readyz', 'HEAD'), { code: 200, body: '', type })
  t.strictSame(await get(probes.probes, '/metrics'), { code: 404, body: 'not found\n', type })
  t.strictSame(await get(probes.probes, '/healthz', 'POST'), { code: 405, body: 'only GET is answered here\n', type })
  t.match(await get(probes.metrics, '/metrics'), {
    code: 200,
    body: /controller_runtime_reconcile_total\{controller="thing"/,
    type: /text\/plain; version=0\.0\.4/,
  })
  t.not(probes.metrics!.port, probes.probes!.port, 'also if both are any free port')
  t.match(await get(probes.metrics, '/readyz'), { code: 404 })
  t.match(await get(probes.metrics, '/metrics/x'), { code: 404 })
  const { headers } = await fetch(`http://${formatListenAddress(probes.probes!)}/healthz`)
  t.equal(headers.get('cache-control'), 'no-store', 'probes are not cached')
  t.equal(headers.get('x-content-type-options'), 'nosniff')
})

t.test('0 disables each of them', async (t) => {
  const probes = await startProbes({
    probeBindAddress: '0',
    metricsBindAddress: '0',
    metrics: new Metrics(),
    clock: systemClock,
    logger: silentLogger(),
    liveness: () => [],
    readiness: () => [],
  })
  t.strictSame([probes.probes, probes.metrics], [undefined, undefined])
  await probes.close()
})

t.test('one address for both is one server', async (t) => {
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const probes = await startProbes({
    probeBindAddress: address,
    metricsBindAddress: address,
    metrics: new Metrics(),
    clock: systemClock,
    logger: silentLogger(),
    liveness: () => [],
    readiness: () => [],
  })
  t.teardown(() => probes.close())
  t.strictSame([probes.probes, probes.metrics], [{ host: '127.0.0.1', port }, { host: '127.0.0.1', port }]) // prettier-ignore
  for (const path of ['/healthz', '/readyz', '/metrics']) t.match(await get(probes.probes, path), { code: 200 })
})

t.test('a port in use is one sentence with the address and the flag, and closes what was opened', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  t.teardown(() => other.close())
  const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`
  const options = { metrics: new Metrics(), clock: systemClock, logger: silentLogger(), liveness: () => [], readiness: () => [] }
  await t.rejects(startProbes({ ...options, probeBindAddress: taken, metricsBindAddress: '0' }), {
    code: 'PRO_PORT_IN_USE',
    message: `The address ${taken} is in use by another process: stop that one, or choose another address with --health-probe-bind-address (0 switches it off).`,
  })
  const free = `127.0.0.1:${await freePort()}`
  await t.rejects(startProbes({ ...options, probeBindAddress: free, metricsBindAddress: taken }), {
    code: 'PRO_PORT_IN_USE',
    message: `The address ${taken} is in use by another process: stop that one, or choose another address with --metrics-bind-address (0 switches it off).`,
  })
  const again = await startProbes({ ...options, probeBindAddress: free, metricsBindAddress: '0' })
  await again.close()
})

t.test('an address of another machine is refused', async (t) => {
  await t.rejects(
    startProbes({
      probeBindAddress: '192.0.2.1:0',
      metricsBindAddress: '0',
      metrics: new Metrics(),
      clock: systemClock,
      logger: silentLogger(),
      liveness: () => [],
      readiness: () => [],
    }),
    {
      code: 'PRO_CONFIG_INVALID',
      message: /cannot listen on 192\.0\.2\.1:0/,
    },
  )
})

t.test('each can be disabled alone, and close ends open connections', async (t) => {
  const options = { metrics: new Metrics(), clock: systemClock, logger: silentLogger(), liveness: () => [], readiness: () => [] }
  const metricsAlone = await startProbes({ ...options, probeBindAddress: '0', metricsBindAddress: loopback })
  t.equal(metricsAlone.probes, undefined)
  t.match(await get(metricsAlone.metrics, '/metrics'), { code: 200 })
  const both = await startProbes({ ...options, probeBindAddress: loopback, metricsBindAddress: loopback })
  const addresses = [both.probes!, both.metrics!, metricsAlone.metrics!]
  for (const address of addresses) await get(address, '/')
  await Promise.all([metricsAlone.close(), both.close()])
  for (const address of addresses) await t.rejects(get(address, '/'))
})

t.test('a malformed address is refused with its flag before anything starts', async (t) => {
  const options = { metrics: new Metrics(), clock: systemClock, logger: silentLogger(), liveness: () => [], readiness: () => [] }
  for (const [bad, flag] of [
    [{ probeBindAddress: 'x', metricsBindAddress: loopback }, '--health-probe-bind-address'],
    [{ probeBindAddress: loopback, metricsBindAddress: 'x' }, '--metrics-bind-address'],
  ] as const)
    await t.rejects(startProbes({ ...options, ...bad }), { code: 'PRO_CONFIG_INVALID', message: `${flag} is "x", which is not an address` })
})
