import t from 'tap'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import type { JsonObject } from '../../src/api/json.ts'
import { writeAuthority } from '../../src/certs/authority-data.ts'
import { isSignedBy, readBundle, readCertificate } from '../../src/certs/certificate.ts'
import { issueAuthority } from '../../src/certs/issue.ts'
import { openSecretCertificates } from '../../src/certs/secret-store.ts'
import type { RefreshingCertificateSource, ServingCertificate } from '../../src/certs/serving-certificate.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { error, FakeClient } from '../support/client/fake-secrets.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const day = 86_400_000
const id = 'Secret/proreus-webhook-ca'

function cluster(): {
  server: FakeClient
  clock: FakeClock
  lines: string[]
  logger: ReturnType<typeof recordingLogger>['logger']
  open: () => Promise<RefreshingCertificateSource>
  data: () => Record<string, string>
} {
  const server = new FakeClient()
  const clock = new FakeClock()
  const { logger, lines } = recordingLogger()
  return {
    server,
    clock,
    lines,
    logger,
    open: () =>
      openSecretCertificates({
        client: server.client,
        namespace: 'proreus-system',
        secretName: 'proreus-webhook-ca',
        names: ['proreus-webhook.proreus-system.svc'],
        ips: [],
        clock,
        logger,
      }),
    data: () => server.objects.get(id)!.data as Record<string, string>,
  }
}

function trusts({ caBundle }: ServingCertificate, { cert }: ServingCertificate): boolean {
  return isSignedBy(readCertificate(cert), readBundle(caBundle))
}

t.test('the Secret is created without the serving key', async (t) => {
  const { server, open, data, lines } = cluster()
  const { cert, caBundle } = (await open()).current()
  const { data: written, ...secret } = server.objects.get(id)!
  t.strictSame(secret, {
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      namespace: 'proreus-system',
      name: 'proreus-webhook-ca',
      labels: { 'app.kubernetes.io/managed-by': 'proreus' },
      resourceVersion: '1',
    },
  })
  t.equal(written, data())
  t.strictSame(lines, ['info: made a certificate authority in the Secret proreus-system/proreus-webhook-ca'])
  t.strictSame(Object.keys(data()).sort(), ['ca.crt', 'ca.key'])
  t.equal(Buffer.from(data()['ca.crt']!, 'base64').toString(), caBundle)
  t.ok(isSignedBy(readCertificate(cert), readBundle(caBundle)))
})

t.test('replicas share the authority and have their own leaves', async (t) => {
  const { server, open } = cluster()
  const [a, b, c] = await Promise.all([open(), open(), open()])
  t.equal(server.writes.length, 1, 'one of them has created it')
  const certificates = [a, b, c].map((source) => source.current())
  t.equal(new Set(certificates.map(({ caBundle }) => caBundle)).size, 1)
  t.equal(new Set(certificates.map(({ cert }) => cert)).size, 3)
})

t.test('an existing Secret is filled, and other entries are kept', async (t) => {
  const { server, open, data } = cluster()
  server.put('Secret', 'proreus-webhook-ca', { metadata: { labels: { a: 'b' } }, type: 'Opaque', data: { note: 'eA==' } })
  await open()
  t.strictSame(Object.keys(data()).sort(), ['ca.crt', 'ca.key', 'note'])
  t.match(server.objects.get(id), { metadata: { labels: { a: 'b' } } })
})

t.test('an existing Secret without data is filled', async (t) => {
  const { server, open, data, lines } = cluster()
  server.put('Secret', 'proreus-webhook-ca', { metadata: {}, type: 'Opaque' })
  const { caBundle } = (await open()).current()
  t.strictSame(Object.keys(data()).sort(), ['ca.crt', 'ca.key'])
  t.equal(Buffer.from(data()['ca.crt']!, 'base64').toString(), caBundle)
  t.strictSame(server.writes, ['update Secret/proreus-webhook-ca'])
  t.strictSame(lines, ['info: made a certificate authority in the Secret proreus-system/proreus-webhook-ca'])
})

t.test('a replaced authority removes the next one from the Secret', async (t) => {
  const { server, clock, open, data } = cluster()
  const [old, next] = [await issueAuthority(clock.now()), await issueAuthority(clock.now())]
  const stored = writeAuthority({ current: old, next, previous: [] }, clock.now())
  const entries = Object.entries(stored).map(([name, text]) => [name, Buffer.from(text!).toString('base64')])
  server.put('Secret', 'proreus-webhook-ca', { metadata: {}, data: Object.fromEntries(entries) as JsonObject })
  await clock.advance(244 * day)
  const { caBundle } = (await open()).current()
  t.strictSame(Object.keys(data()).sort(), ['ca.crt', 'ca.key'])
  t.strictSame(
    readBundle(caBundle)
      .slice(1)
      .map(({ pem }) => pem),
    [old.cert, next.cert],
    'but both stay trusted',
  )
})

t.test('a damaged Secret is replaced at start with one warning', async (t) => {
  const { server, open, lines } = cluster()
  server.put('Secret', 'proreus-webhook-ca', { metadata: {}, data: { 'ca.crt': 'eA==', 'ca.key': 'eA==' } })
  await open()
  t.strictSame(lines, [
    'warn: replaced the certificate authority in the Secret proreus-system/proreus-webhook-ca: the certificate cannot be read (there is no certificate in it)',
  ])
})

t.test('a Secret that is damaged or deleted while running is restored', async (t) => {
  const { server, open, lines, data } = cluster()
  const source = await open()
  const { caBundle } = source.current()
  server.objects.delete(id)
  await source.refresh()
  t.equal(Buffer.from(data()['ca.crt']!, 'base64').toString(), caBundle)
  t.equal(lines.at(-1), 'warn: restored the certificate authority in the Secret proreus-system/proreus-webhook-ca: it was gone')
  server.put('Secret', 'proreus-webhook-ca', { ...(server.objects.get(id) as JsonObject), data: {} })
  await source.refresh()
  t.equal(source.current().caBundle, caBundle)
  t.equal(server.writes.length, 3)
  const damaged = { ...data(), 'ca.crt': 'eA==' }
  server.put('Secret', 'proreus-webhook-ca', { ...(server.objects.get(id) as JsonObject), data: damaged })
  await source.refresh()
  t.equal(source.current().caBundle, caBundle)
  t.equal(
    lines.at(-1),
    'warn: restored the certificate authority in the Secret proreus-system/proreus-webhook-ca: the certificate cannot be read (there is no certificate in it)',
  )
  t.equal(lines.length, 4)
})

t.test('an authority that is too old is not restored, but stays trusted', async (t) => {
  const secret = 'the Secret proreus-system/proreus-webhook-ca'
  const unreadable = 'the certificate cannot be read (there is no certificate in it)'
  const accidents: [name: string, data: JsonObject | undefined, line: string][] = [
    ['deleted', undefined, `info: made a certificate authority in ${secret}`],
    ['emptied', {}, `info: made a certificate authority in ${secret}`],
    ['damaged', { 'ca.crt': 'eA==', 'ca.key': 'eA==' }, `warn: replaced the certificate authority in ${secret}: ${unreadable}`],
  ]
  for (const [name, left, line] of accidents) {
    const { server, clock, open, lines, data } = cluster()
    const source = await open()
    const { caBundle } = source.current()
    await clock.advance(244 * day)
    if (left === undefined) server.objects.delete(id)
    else server.put('Secret', 'proreus-webhook-ca', { ...(server.objects.get(id) as JsonObject), data: left })
    await source.refresh()
    const bundle = readBundle(source.current().caBundle).map(({ pem }) => pem)
    t.equal(bundle.length, 2, name)
    t.equal(bundle[1], caBundle, name)
    t.ok(Buffer.from(data()['ca.crt']!, 'base64').toString().endsWith(caBundle), `${name}, in the Secret, too`)
    t.strictSame(lines.slice(1), [line], name)
  }
})

t.test('a leaf is kept for two thirds of its life, while its authority signs', async (t) => {
  const { server, clock, open } = cluster()
  const source = await open()
  const first = source.current()
  t.strictSame(readCertificate(first.cert).x509.subjectAltName, 'DNS:proreus-webhook.proreus-system.svc')
  const third = (7 * day + 3_600_000) / 3
  await clock.advance(7 * day - third - 1)
  await source.refresh()
  t.equal(source.current(), first)
  await clock.advance(1)
  await source.refresh()
  const second = source.current()
  t.not(second.cert, first.cert)
  const other = await issueAuthority(clock.now())
  const data = writeAuthority({ current: other, previous: [second.caBundle] }, clock.now())
  server.put('Secret', 'proreus-webhook-ca', {
    metadata: {},
    data: Object.fromEntries(Object.entries(data).flatMap(([name, text]) => (text ? [[name, Buffer.from(text).toString('base64')]] : []))),
  })
  await source.refresh()
  t.equal(source.current().caBundle, other.cert + second.caBundle)
  t.ok(isSignedBy(readCertificate(source.current().cert), [readCertificate(other.cert)]))
})

t.test('requests name the Secret, and have a signal', async (t) => {
  const { server, clock, logger } = cluster()
  const requests: [string, string, unknown, { signal?: AbortSignal }][] = []
  const recorded =
    (verb: 'get' | 'create' | 'update') => async (type: ResourceType, object: JsonObject, options: { signal?: AbortSignal }) => {
      requests.push([verb, type.kind, verb === 'get' ? object : object.metadata, options])
      return (server.client[verb] as (...args: unknown[]) => Promise<unknown>)(type, object)
    }
  const client = { get: recorded('get'), create: recorded('create'), update: recorded('update') } as unknown as typeof server.client
  const [opening, refreshing] = [new AbortController().signal, new AbortController().signal]
  const options = { client, namespace: 'a', secretName: 'b', names: ['x.svc'], ips: ['::1'], clock, logger }
  const source = await openSecretCertificates({ ...options, signal: opening })
  t.equal(readCertificate(source.current().cert).x509.subjectAltName, 'DNS:x.svc, IP Address:0:0:0:0:0:0:0:1')
  await clock.advance(244 * day)
  await source.refresh(refreshing)
  const metadata = { namespace: 'a', name: 'b', labels: { 'app.kubernetes.io/managed-by': 'proreus' } }
  t.strictSame(
    requests.map((each) => each.slice(0, 3)),
    [
      ['get', 'Secret', { namespace: 'a', name: 'b' }],
      ['create', 'Secret', metadata],
      ['get', 'Secret', { namespace: 'a', name: 'b' }],
      ['update', 'Secret', { ...metadata, resourceVersion: '1' }],
    ],
  )
  requests.forEach(([, , , { signal }], index) => t.equal(signal, index < 2 ? opening : refreshing))
})

t.test('an authority that another replica has written is adopted', async (t) => {
  const { server, clock, open } = cluster()
  const [a, b] = [await open(), await open()]
  const before = b.current()
  await clock.advance(244 * day)
  await Promise.all([a.refresh(), b.refresh()])
  t.equal(server.writes.filter((write) => write.startsWith('update')).length, 1, 'one of them has replaced it')
  t.equal(a.current().caBundle, b.current().caBundle)
  t.equal(readBundle(b.current().caBundle).length, 2)
  t.ok(trusts(a.current(), b.current()))
  t.ok(trusts(b.current(), before), 'old leaves stay trusted')
})

t.test('an unreachable API server does not stop the renewal', async (t) => {
  const { server, clock, lines, open } = cluster()
  const source = await open()
  const first = source.current()
  const stop = new AbortController()
  const running = source.start(stop.signal)
  await clock.advance(0)
  server.before = () => {
    throw error(503, 'ServiceUnavailable', 'down')
  }
  for (let minute = 0; minute < 30; minute += 1) await clock.advance(60_000)
  stop.abort()
  await running
  t.equal(source.current(), first)
  t.equal(lines.filter((line) => line.includes('down')).length, 1, 'logged once')

  await clock.advance(5 * day)
  await source.refresh()
  t.not(source.current().cert, first.cert, 'the leaf is renewed nevertheless')
  t.equal(source.current().caBundle, first.caBundle)
  t.equal(lines.at(-1), 'warn: issued a serving certificate, although the Secret cannot be read: down')
  await t.rejects(source.refresh(), { message: 'down' }, 'when nothing is due, the error is thrown')
})

t.test('a missing permission is reported in one sentence', async (t) => {
  const { server, open } = cluster()
  server.before = () => {
    throw error(403, 'Forbidden', 'secrets "proreus-webhook-ca" is forbidden')
  }
  await t.rejects(open(), {
    code: 'PRO_PERMISSION',
    message:
      'The Secret proreus-system/proreus-webhook-ca may not be used: secrets "proreus-webhook-ca" is forbidden. Grant get, create and update for it, with the Role that "proreus generate" writes to config/rbac/webhook_ca_role.yaml.',
    cause: { status: { code: 403 } },
  })
})

t.test('a create that always conflicts fails after ten attempts', async (t) => {
  const { server, open } = cluster()
  let tries = 0
  server.before = (verb) => {
    if (verb !== 'create') return
    tries += 1
    throw tries <= 20 ? error(409, 'AlreadyExists', 'it is there') : new Error('it goes on and on')
  }
  await t.rejects(open(), { message: 'it is there' })
  t.equal(tries, 10)
})

t.test('a stop aborts pending requests, while opening and later', async (t) => {
  const { server, clock, lines, logger } = cluster()
  let arrived = Promise.withResolvers<void>()
  let hangs = true
  const client = {
    ...server.client,
    get: (...[type, key, options]: Parameters<typeof server.client.get>) => {
      if (!hangs) return server.client.get(type, key)
      arrived.resolve()
      return new Promise<never>((_, reject) => options!.signal!.addEventListener('abort', () => reject(options!.signal!.reason as Error)))
    },
  } as typeof server.client
  const open = (signal: AbortSignal): Promise<RefreshingCertificateSource> =>
    openSecretCertificates({ client, namespace: 'a', secretName: 'b', names: ['a.b.svc'], ips: [], clock, logger, signal })
  const first = new AbortController()
  const opening = open(first.signal)
  await arrived.promise
  first.abort(new Error('received SIGTERM'))
  await t.rejects(opening, { message: 'received SIGTERM' })

  hangs = false
  const source = await open(new AbortController().signal)
  hangs = true
  arrived = Promise.withResolvers()
  const second = new AbortController()
  const running = source.start(second.signal)
  await arrived.promise
  second.abort()
  await running
  t.notMatch(lines.join('\n'), /warn|error/, 'a stop logs no problem')
})
