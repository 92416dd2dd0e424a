/** Tests of the connections to webhooks: their protocol, their TLS sessions, and their end. */
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { issueAuthority, issueLeaf } from '../../../src/certs/issue.ts'
import { createWebhookCaller } from '../../../src/devcluster/admission/caller.ts'
import { mappedServices } from '../../../src/devcluster/admission/service-resolver.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { until } from '../../../src/testing/until.ts'

const now = Date.now()
const authority = await issueAuthority(now)
const caBundle = Buffer.from(authority.cert).toString('base64')
const leaf = await issueLeaf(authority, { names: ['hooks.system.svc'], ips: ['127.0.0.1'], now })

/**
 * Starts a caller of webhooks, and a webhook server that supports HTTP/1.1 and HTTP/2. The server responds to requests when `answered` has
 * resolved.
 */
async function start(t: Test, answered: Promise<void> = Promise.resolve()) {
  const [versions, resumed]: [string[], boolean[]] = [[], []]
  const open = new Set<TLSSocket>()
  const server = createSecureServer({ ...leaf, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion)
    void answered.then(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  // With the default timeout, the server would close idle connections itself.
  Object.assign(server, { keepAliveTimeout: 0 })
  server.on('secureConnection', (socket: TLSSocket) => {
    resumed.push(socket.isSessionReused())
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const services: Record<string, string> = { 'system/hooks': url }
  const caller = createWebhookCaller({ services: mappedServices(() => services), clock: systemClock })
  t.teardown(async () => {
    await caller.close()
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const call = (name = 'hooks'): Promise<unknown> =>
    caller.call({ service: { namespace: 'system', name }, caBundle }, {}, { timeoutSeconds: 10, signal: new AbortController().signal })
  return { caller, services, versions, resumed, open, call }
}

t.test('a webhook is called over HTTP/1.1, even if its server offers HTTP/2', async (t) => {
  const { call, versions } = await start(t)
  await call()
  t.strictSame(versions, ['1.1'])
})

t.test('each connection has a new TLS session, so each verifies the certificate', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { call, resumed, versions } = await start(t, gate.promise)
  const calls: Promise<unknown>[] = []
  for (const count of [1, 2, 3]) {
    calls.push(call())
    await until('the call has arrived', () => versions.length === count)
  }
  gate.resolve()
  await Promise.all(calls)
  t.strictSame(resumed, [false, false, false])
})

t.test('the connections of an agent end when other addresses take its place', async (t) => {
  const { call, services, open } = await start(t)
  await call()
  t.equal(open.size, 1)
  for (let other = 0; other < 200; other += 1) {
    services[`system/other-${other}`] = 'https://127.0.0.1:1'
    await call(`other-${other}`).catch(() => undefined)
  }
  await until('the connection has ended', () => open.size === 0)
})

t.test('the end of the caller ends its connections', async (t) => {
  const { caller, call, open } = await start(t)
  await call()
  t.equal(open.size, 1)
  await caller.close()
  await until('the connection has ended', () => open.size === 0)
})
