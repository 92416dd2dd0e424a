import t from 'tap'
import type { Test } from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { readBundle } from '../../src/certs/certificate.ts'
import type { InjectorOptions } from '../../src/certs/injector.ts'
import { injectCaBundle, mergeBundle, patchFor, patchForDefinition } from '../../src/certs/injector.ts'
import { issueAuthority } from '../../src/certs/issue.ts'
import type { CertificateSource, ServingCertificate } from '../../src/certs/serving-certificate.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { error, FakeClient } from '../support/client/fake-secrets.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const day = 86_400_000
const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] as const

const titles = ['MutatingWebhookConfiguration proreus-mutating', 'ValidatingWebhookConfiguration proreus-validating']
const wroteBoth = titles.map((title) => `info: wrote the caBundle of ${title}`)

function fakeSource(caBundle: string): CertificateSource & { readonly listeners: number; change(caBundle: string): void } {
  let current: ServingCertificate = { cert: '', key: '', caBundle, notAfter: new Date(0) }
  const listeners = new Set<(certificate: ServingCertificate) => void>()
  return {
    current: () => current,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    start: () => Promise.resolve(),
    get listeners() {
      return listeners.size
    },
    change(next) {
      current = { ...current, caBundle: next }
      for (const listener of listeners) listener(current)
    },
  }
}

async function running(
  t: Test,
  prepare: (server: FakeClient) => void = configurations,
  targets: Pick<InjectorOptions, 'mutating' | 'validating' | 'definitions'> = {
    mutating: ['proreus-mutating'],
    validating: ['proreus-validating'],
  },
): Promise<Fixture> {
  const clock = new FakeClock()
  const server = new FakeClient()
  prepare(server)
  const authority = (await issueAuthority(clock.now())).cert
  const source = fakeSource(authority)
  const { logger, lines } = recordingLogger()
  const abort = new AbortController()
  const options = { client: server.client, ...targets, source, logger, clock }
  const done = injectCaBundle(options, abort.signal)
  const stop = (): Promise<void> => {
    abort.abort()
    return done
  }
  t.after(stop)
  await clock.advance(0)
  return { clock, server, source, authority, lines, stop }
}

function configurations(server: FakeClient, annotations: JsonObject = {}): void {
  server.put(kinds[0], 'proreus-mutating', { metadata: { annotations }, webhooks: [webhook('a'), webhook('b')] })
  server.put(kinds[1], 'proreus-validating', { metadata: { annotations }, webhooks: [webhook('c')] })
}

function webhook(name: string, caBundle?: string): JsonObject {
  return {
    name,
    clientConfig: {
      url: `https://localhost/${name}`,
      ...(caBundle !== undefined && { caBundle: Buffer.from(caBundle).toString('base64') }),
    },
    sideEffects: 'None',
  }
}

function bundles(server: FakeClient): string[] {
  return [...server.objects.values()].flatMap(({ webhooks }) =>
    (webhooks as { clientConfig: { caBundle?: string } }[]).map(({ clientConfig }) =>
      Buffer.from(clientConfig.caBundle ?? '', 'base64').toString(),
    ),
  )
}

t.test('the caBundle is written to every webhook once', async (t) => {
  const { clock, server, authority, lines } = await running(t)
  t.strictSame(bundles(server), [authority, authority, authority])
  t.match(server.objects.get(`${kinds[0]}/proreus-mutating`), {
    webhooks: [{ name: 'a', clientConfig: { url: 'https://localhost/a' }, sideEffects: 'None' }, { name: 'b' }],
  })
  await clock.advance(60_000)
  t.equal(server.writes.length, 2, 'no write without a change')
  t.strictSame(lines, wroteBoth)
})

t.test('an overwritten caBundle is restored within 10 s, and a new certificate is written at once', async (t) => {
  const { clock, server, source, authority } = await running(t)
  configurations(server)
  await clock.advance(9_999)
  t.strictSame(bundles(server), ['', '', ''])
  await clock.advance(1)
  t.strictSame(bundles(server), [authority, authority, authority])
  const next = (await issueAuthority(clock.now())).cert
  source.change(next + authority)
  await clock.advance(0)
  for (const bundle of bundles(server)) t.equal(readBundle(bundle).length, 2)
})

t.test('a certificate that is replaced while its bundle is written is written at once', async (t) => {
  const { clock, server, source, authority } = await running(t)
  const next = (await issueAuthority(clock.now())).cert
  configurations(server)
  server.before = (verb) => {
    if (verb !== 'patch' || source.current().caBundle !== authority) return
    source.change(next)
  }
  await clock.advance(10_000)
  t.strictSame(bundles(server), [authority + next, authority + next, next])
})

t.test('the caBundle is written to CustomResourceDefinitions with a conversion webhook', async (t) => {
  const definition = (name: string, conversion: JsonObject, annotations: JsonObject = {}) =>
    [name, { metadata: { annotations }, spec: { group: 'example.com', conversion } }] as const
  const hook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://localhost/convert' } }
  const { clock, server, lines, authority } = await running(
    t,
    (server) => {
      for (const [name, object] of [
        definition('a', { strategy: 'Webhook', webhook: hook }),
        definition('b', { strategy: 'None' }),
        definition('c', { strategy: 'Webhook', webhook: hook }, { 'cert-manager.io/inject-ca-from': 'ns/cert' }),
      ])
        server.put('CustomResourceDefinition', name, object)
    },
    { mutating: [], validating: [], definitions: ['a', 'b', 'c'] },
  )
  await clock.advance(60_000)
  const caBundle = Buffer.from(authority).toString('base64')
  t.strictSame(server.objects.get('CustomResourceDefinition/a')!.spec, {
    group: 'example.com',
    conversion: { strategy: 'Webhook', webhook: { ...hook, clientConfig: { ...hook.clientConfig, caBundle } } },
  })
  t.strictSame(server.writes, ['patch CustomResourceDefinition/a'])
  t.strictSame(lines.sort(), [
    'info: the caBundle of CustomResourceDefinition c is left to cert-manager (annotation cert-manager.io/inject-ca-from)',
    'info: wrote the caBundle of CustomResourceDefinition a',
    "warn: CustomResourceDefinition b has no conversion webhook, so that its versions lose each other's fields: apply the generated one",
  ])
})

t.test('missing configurations are waited for, and logged once', async (t) => {
  const { clock, server, lines, authority } = await running(t, () => undefined)
  await clock.advance(60_000)
  t.strictSame(lines.sort(), [
    'info: waiting for MutatingWebhookConfiguration proreus-mutating: it does not exist yet',
    'info: waiting for ValidatingWebhookConfiguration proreus-validating: it does not exist yet',
  ])
  configurations(server)
  await clock.advance(10_000)
  t.strictSame(bundles(server), [authority, authority, authority])
})

t.test('configurations with cert-manager annotations are left to cert-manager', async (t) => {
  for (const [annotation, value] of [
    ['cert-manager.io/inject-ca-from', 'ns/cert'],
    ['cert-manager.io/inject-ca-from-secret', 'ns/secret'],
    ['cert-manager.io/inject-apiserver-ca', 'true'],
  ] as const) {
    t.test(`by ${annotation}`, async (t) => {
      const { clock, server, lines } = await running(t, (server) => configurations(server, { [annotation]: value }))
      await clock.advance(60_000)
      t.strictSame(server.writes, [])
      t.strictSame(
        lines,
        titles.map((title) => `info: the caBundle of ${title} is left to cert-manager (annotation ${annotation})`),
      )
    })
  }
})

t.test('after the stop the certificate listener is removed', async (t) => {
  const { stop, source, clock } = await running(t)
  t.equal(source.listeners, 1)
  t.equal(clock.pending, 1)
  await stop()
  t.equal(source.listeners, 0)
  t.equal(clock.pending, 0)
})

t.test('a patch conflict causes another read', async (t) => {
  const { clock, server, authority } = await running(t, () => undefined)
  configurations(server)
  let interfered = 0
  server.before = (verb, name) => {
    if (verb !== 'patch' || name !== 'proreus-mutating' || interfered === 3) return
    interfered += 1
    server.put(kinds[0], name, { metadata: {}, webhooks: [webhook(`new-${interfered}`)] })
  }
  await clock.advance(10_000)
  t.equal(interfered, 3)
  t.strictSame(bundles(server), [authority, authority])
  t.match(server.objects.get(`${kinds[0]}/proreus-mutating`), { webhooks: [{ name: 'new-3' }] })
})

t.test('a missing permission is logged once, and retried', async (t) => {
  const { clock, server, lines, authority } = await running(t, (server) => {
    configurations(server)
    server.before = () => {
      throw error(403, 'Forbidden', 'no')
    }
  })
  await clock.advance(60_000)
  t.strictSame(
    lines,
    titles.map(
      (title) => `error: ${title} may not be read or patched, so the API server cannot trust this process: no. Grant get and patch for it.`,
    ),
  )
  server.before = () => undefined
  await clock.advance(10_000)
  t.strictSame(bundles(server), [authority, authority, authority])
})

t.test('other errors are logged once while they last, and again when they recur', async (t) => {
  const { clock, server, lines, authority } = await running(t)
  lines.length = 0
  const away = (): void => {
    throw error(503, 'ServiceUnavailable', 'down')
  }
  const warnings = titles.map((title) => `warn: the caBundle of ${title} could not be written: down`)
  server.before = away
  await clock.advance(30_000)
  t.strictSame(lines, warnings)
  server.before = () => undefined
  await clock.advance(10_000)
  server.before = away
  await clock.advance(20_000)
  t.strictSame(lines, [...warnings, ...warnings])
  t.strictSame(bundles(server), [authority, authority, authority])
})

t.test('a patch that always conflicts is tried five times, and again at the next check', async (t) => {
  for (const refusal of [error(409, 'Conflict', 'changed'), error(422, 'Invalid', 'changed')]) {
    const tries: string[] = []
    const { clock, lines } = await running(t, (server) => {
      configurations(server)
      server.before = (verb, name) => {
        tries.push(`${verb} ${name}`)
        if (verb === 'patch' && name === 'proreus-mutating') throw refusal
      }
    })
    const attempt = ['get proreus-mutating', 'patch proreus-mutating']
    const five = Array.from({ length: 5 }, () => attempt).flat()
    const mutating = (): string[] => tries.filter((each) => each.endsWith('mutating'))
    t.strictSame(mutating(), five)
    await clock.advance(10_000)
    t.strictSame(mutating(), [...five, ...five])
    t.strictSame(lines.sort(), [
      'info: wrote the caBundle of ValidatingWebhookConfiguration proreus-validating',
      'warn: the caBundle of MutatingWebhookConfiguration proreus-mutating could not be written: changed',
    ])
  }
})

t.test('requests have a signal and a field manager, and an aborted one is not logged as a problem', async (t) => {
  const clock = new FakeClock()
  const { logger, lines } = recordingLogger('debug')
  const requests: unknown[][] = []
  const stop = new AbortController()
  const hanging = Promise.withResolvers<void>()
  const client = {
    get: (type: { kind: string }, key: object, options: object) => {
      requests.push(['get', type.kind, key, options])
      return Promise.resolve({ metadata: { resourceVersion: '1' }, webhooks: [webhook('a')] })
    },
    patch: (type: { kind: string }, key: object, _: unknown, { signal, ...options }: { signal: AbortSignal }) => {
      requests.push(['patch', type.kind, key, options])
      hanging.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    },
  } as unknown as InjectorOptions['client']
  const source = fakeSource((await issueAuthority(clock.now())).cert)
  const done = injectCaBundle({ client, mutating: ['x'], validating: [], source, logger, clock }, stop.signal)
  await hanging.promise
  stop.abort()
  await done
  t.strictSame(requests, [
    ['get', kinds[0], { name: 'x' }, { signal: stop.signal }],
    ['patch', kinds[0], { name: 'x' }, { type: 'json', fieldManager: 'proreus-cabundle' }],
  ])
  t.strictSame(lines, ['debug: the caBundle of the webhook configurations is no longer looked after'])
})

t.test('the patch of a CustomResourceDefinition tests its resourceVersion', async (t) => {
  const now = Date.parse('2026-06-01T00:00:00Z')
  const ours = (await issueAuthority(now)).cert
  const definition = (conversion?: JsonObject): Parameters<typeof patchForDefinition>[0] =>
    ({ metadata: { resourceVersion: '7' }, spec: { ...(conversion && { conversion }) } }) as never
  const caBundle = Buffer.from(ours).toString('base64')
  for (const conversion of [undefined, { strategy: 'None' }, { strategy: 'Webhook', webhook: {} }])
    t.equal(patchForDefinition(definition(conversion), ours, now), undefined)
  t.equal(patchForDefinition(definition({ webhook: { clientConfig: { caBundle } } }), ours, now), undefined)
  t.strictSame(patchForDefinition(definition({ webhook: { clientConfig: {} } }), ours, now), [
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/spec/conversion/webhook/clientConfig/caBundle', value: caBundle },
  ])
})

t.test('foreign certificates are kept until they expire', async (t) => {
  const now = Date.parse('2026-06-01T00:00:00Z')
  const [ours, foreign, expired] = [
    (await issueAuthority(now)).cert,
    (await issueAuthority(now - 100 * day)).cert,
    (await issueAuthority(now - 400 * day)).cert,
  ]
  const [ends, soon] = [(await issueAuthority(now - 365 * day)).cert, (await issueAuthority(now - 365 * day + 1000)).cert]
  const cases: [string, string, string, string | undefined][] = [
    ['empty', '', ours, ours],
    ['a placeholder', '\n', ours, ours],
    ['equal', ours, ours, undefined],
    ['a foreign one is kept, in front', foreign, ours, foreign + ours],
    ['another order is no change', ours + foreign, foreign + ours, undefined],
    ['an expired one is dropped', expired + ours, ours, ours],
    ['one that expires now is dropped', ends + ours, ours, ours],
    ['one that expires soon is kept', soon + ours, ours, undefined],
    ['twice', ours + ours, ours, ours],
    ['damaged', `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${ours}`, ours, ours],
  ]
  for (const [name, existing, bundle, expected] of cases) t.equal(mergeBundle(existing, bundle, now), expected, name)
})

t.test('the patch tests the resourceVersion', async (t) => {
  const ours = (await issueAuthority(Date.now())).cert
  const configuration = { metadata: { resourceVersion: '7' }, webhooks: [webhook('a', ours), webhook('b')] } as unknown as Parameters<
    typeof patchFor
  >[0]
  for (const webhooks of [undefined, [], [webhook('a', ours)]])
    t.equal(patchFor({ ...configuration, webhooks } as never, ours, Date.now()), undefined)
  t.strictSame(patchFor(configuration, ours, Date.now()), [
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    { op: 'test', path: '/webhooks/1/name', value: 'b' },
    { op: 'add', path: '/webhooks/1/clientConfig/caBundle', value: Buffer.from(ours).toString('base64') },
  ])
})

interface Fixture {
  clock: FakeClock
  server: FakeClient
  source: ReturnType<typeof fakeSource>
  authority: string
  lines: string[]
  stop(): Promise<void>
}
