/** Tests of webhook calls that fail, with each failurePolicy: errors, timeouts, and patches that cannot be applied. */
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { createServer } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { issueAuthority } from '../../src/certs/issue.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import type { Answer } from '../support/conformance/admission.ts'
import { admissionWorld, configMaps, review, webhookOf } from '../support/conformance/admission.ts'
import { callFailures, invalidResponses, json, otherFailures, patch } from '../support/conformance/admission-failures.ts'
import { base64, raw } from '../support/conformance/reviews.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-admission-failures'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const { server, configure } = await admissionWorld(t, api, namespace)

/**
 * Sends a create request for a ConfigMap with `dryRun=All`. `policy` is the value of its label `policy`. The API server calls the webhooks
 * whose objectSelector requires this value.
 */
function create(policy = '', query = ''): Promise<RawAnswer> {
  const body = { metadata: { name: 'a', labels: { policy } }, data: { a: 'b' } }
  return api('POST', `/api/v1/namespaces/${namespace}/configmaps?dryRun=All${query}`, { body })
}

/**
 * Returns two copies of a webhook: one has the failurePolicy Fail, and the other has Ignore. The label `policy` of an object determines
 * which copy is called.
 */
function both(path: string, more: JsonObject = {}): JsonObject[] {
  return ['Fail', 'Ignore'].map((failurePolicy) =>
    webhookOf(server, path, configMaps, {
      name: `${failurePolicy.toLowerCase()}.conformance.example.com`,
      failurePolicy,
      objectSelector: { matchLabels: { policy: failurePolicy } },
      timeoutSeconds: 1,
      ...more,
    }),
  )
}

function internalError(text: string): JsonObject {
  const message = text.replaceAll('URL', server.url)
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  }
}

const failedCall = (text: string): JsonObject => internalError(`failed calling webhook "fail.conformance.example.com": ${text}`)

t.test('a failed call is an internal error with failurePolicy Fail, and is ignored with Ignore', needsOwnControlPlane, async (t) => {
  await configure(t, 'mutating', 'failing', both('failing'))
  const cases: [string, Answer, string | RegExp][] = [
    ...Object.entries(callFailures).map(([what, { answer, message }]): [string, Answer, string] => [
      what,
      answer,
      `failed to call webhook: ${message}`,
    ]),
    ...Object.entries(invalidResponses).map(([what, { answer, message }]): [string, Answer, string | RegExp] => [
      what,
      answer,
      typeof message === 'string' ? `received invalid webhook response: ${message}` : message,
    ]),
    ...Object.entries(otherFailures).map(([what, { answer, message }]): [string, Answer, string] => [what, answer, message]),
  ]
  for (const [what, answer, message] of cases) {
    server.answer('failing', answer)
    const [failed, ignored] = await Promise.all([create('Fail'), create('Ignore')])
    if (typeof message === 'string') t.strictSame(failed.body, failedCall(message), what)
    else t.match(failed.body, { message, reason: 'InternalError', code: 500 }, what)
    t.equal(failed.status, 500)
    t.equal(ignored.status, 201, `${what} is ignored`)
  }
})

t.test('an unusual but valid response is accepted', needsOwnControlPlane, async (t) => {
  await configure(t, 'mutating', 'odd', both('odd'))
  const good: Record<string, Answer> = {
    'a redirect that keeps the method': raw(307, '', { location: '/elsewhere' }),
    'a permanent one, with an address': raw(308, '', { location: `${server.url}/elsewhere` }),
    'no content type': ({ request }, response) => void response.end(reviewText(request)),
    'another content type': ({ request }, response) => void response.setHeader('content-type', 'text/plain').end(reviewText(request)),
    'another code': ({ request }, response) => void response.writeHead(202, json).end(reviewText(request)),
    'fields that nobody knows': review({ other: 1 }, { other: 1 }),
    'no operation at all': patch('[]'),
    'no operation of an unknown type': patch('[]', 'MergePatch'),
    'a patch of null': patch('null'),
    'a patch that is an empty list': review({ patch: null, patchType: null }),
    'a status, although it allows': review({ status: { code: 500, message: 'no' } }),
  }
  for (const [what, answer] of Object.entries(good)) {
    server.answer('odd', answer)
    t.equal((await create('Fail')).status, 201, what)
  }
  const called = server.take().map(({ path }) => path)
  t.strictSame(called.slice(0, 4), ['odd', 'elsewhere', 'odd', 'elsewhere'])
  t.strictSame(
    called.slice(4),
    Object.keys(good)
      .slice(2)
      .map(() => 'odd'),
  )
  let calls = 0
  server.answer('odd', (call, response) => (++calls === 1 ? raw(503, '', { 'retry-after': '0' })(call, response) : { allowed: true }))
  t.equal((await create('Fail')).status, 201, 'the call is retried after Retry-After')
  t.equal(calls, 2)
})

function reviewText({ uid }: JsonObject): string {
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } })
}

t.test('a validating webhook cannot patch', needsOwnControlPlane, async (t) => {
  await configure(t, 'validating', 'patching', both('patching'))
  const cases = [
    { response: { patch: base64('[]'), patchType: 'JSONPatch' }, message: 'validating webhook may not return response.patch' },
    { response: { patch: base64('[]') }, message: 'validating webhook may not return response.patch' },
    { response: { patchType: 'JSONPatch' }, message: 'validating webhook may not return response.patchType' },
  ]
  for (const { response, message } of cases) {
    server.answer('patching', review(response))
    t.strictSame((await create('Fail')).body, failedCall(`received invalid webhook response: ${message}`))
    t.equal((await create('Ignore')).status, 201)
  }
})

t.test('a webhook server that is unreachable or untrusted is a failed call', needsOwnControlPlane, async (t) => {
  const { port } = await listen(
    t,
    createServer((socket) => socket.resetAndDestroy()),
  )
  const plain = await listen(
    t,
    createHttpServer((_request, response) => response.end('hello')),
  )
  const closed = createServer()
  const { port: closedPort } = await new Promise<AddressInfo>((resolve) =>
    closed.listen(0, '127.0.0.1', () => resolve(closed.address() as AddressInfo)),
  )
  await new Promise((resolve) => closed.close(resolve))
  const stranger = base64((await issueAuthority(Date.now())).cert)
  const { caBundle } = server
  const serverPort = new URL(server.url).port
  const service = { namespace, name: 'nobody', path: '/path' }
  const untrusted = 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  const cases: Record<string, { clientConfig: JsonObject; message: string | RegExp }> = {
    closed: {
      clientConfig: { url: `https://127.0.0.1:${closedPort}/path`, caBundle },
      message: `Post "https://127.0.0.1:${closedPort}/path?timeout=1s": dial tcp 127.0.0.1:${closedPort}: connect: connection refused`,
    },
    'unknown-authority': {
      clientConfig: { url: `${server.url}/path`, caBundle: stranger },
      message: `Post "${server.url}/path?timeout=1s": ${untrusted}`,
    },
    'no-bundle': { clientConfig: { url: `${server.url}/path` }, message: `Post "${server.url}/path?timeout=1s": ${untrusted}` },
    'other-name': {
      clientConfig: { url: `https://localhost:${serverPort}/path`, caBundle },
      message: `Post "https://localhost:${serverPort}/path?timeout=1s": tls: failed to verify certificate: x509: certificate is valid for hooks.conformance.svc, not localhost`,
    },
    'no-tls': {
      clientConfig: { url: `https://127.0.0.1:${plain.port}/path`, caBundle },
      message: `Post "https://127.0.0.1:${plain.port}/path?timeout=1s": http: server gave HTTP response to HTTPS client`,
    },
    reset: { clientConfig: { url: `https://127.0.0.1:${port}/path`, caBundle }, message: /: (EOF|.*connection reset by peer)$/ },
    'no-host': {
      clientConfig: { url: 'https://nobody.invalid/path', caBundle },
      message:
        /Post "https:\/\/nobody\.invalid\/path\?timeout=1s": dial tcp: lookup nobody\.invalid.*: (no such host|server misbehaving|i\/o timeout)$|context deadline exceeded$/,
    },
    'no-service': {
      clientConfig: { service, caBundle },
      message: `Post "https://nobody.${namespace}.svc:443/path?timeout=1s": service "nobody" not found`,
    },
  }
  for (const [name, { clientConfig, message }] of Object.entries(cases))
    await t.test(name, async (t) => {
      await configure(t, 'validating', name, both('path', { clientConfig }))
      const failed = await create('Fail')
      if (typeof message === 'string') t.strictSame(failed.body, failedCall(`failed to call webhook: ${message}`))
      else t.match(failed.body.message, message)
      t.equal((await create('Ignore')).status, 201)
      t.strictSame(server.take(), [])
    })
})

/** Starts the server on loopback; it is closed at the end of the test. */
async function listen(t: Test, listener: Server): Promise<AddressInfo> {
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => listener.close(resolve)))
  return listener.address() as AddressInfo
}

t.test('the query of a call contains the timeout of the webhook', needsOwnControlPlane, async (t) => {
  const slow = (path: string, timeoutSeconds?: number) =>
    webhookOf(server, path, configMaps, timeoutSeconds === undefined ? {} : { timeoutSeconds })
  await configure(t, 'mutating', 'slow', [slow('default'), slow('three', 3), slow('thirty', 30)])
  const asked = async (query: string): Promise<string[]> => {
    const { status } = await create('', query)
    t.equal(status, 201)
    return server.take().map(({ path, query }) => `${path} ${query}`)
  }
  t.strictSame(await asked(''), ['default timeout=10s', 'three timeout=3s', 'thirty timeout=30s'])
  t.strictSame(await asked('&timeout=2s'), ['default timeout=2s', 'three timeout=2s', 'thirty timeout=2s'])
})

t.test('the timeout of a request limits all its webhooks together', needsOwnControlPlane, async (t) => {
  await configure(t, 'mutating', 'slow', [webhookOf(server, 'first', configMaps), webhookOf(server, 'second', configMaps)])
  server.answer('first', (call, response) => {
    setTimeout(() => review({})(call, response), 1100)
    return undefined
  })
  t.equal((await create('', '&timeout=3s')).status, 201)
  t.strictSame(
    server.take().map(({ path, query }) => `${path} ${query}`),
    ['first timeout=3s', 'second timeout=2s'],
  )
})
