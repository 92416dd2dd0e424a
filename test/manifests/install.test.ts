import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { ProreusError } from '../../src/api/errors.ts'
import { Type } from '../../src/api/type.ts'
import { failure } from '../../src/api/status.ts'
import { issueAuthority } from '../../src/certs/issue.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import type { Connection } from '../../src/client/connection.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { namesOf } from '../../src/manager/installation-names.ts'
import type { RunOptions } from '../../src/manager/run-options.ts'
import { crdOf } from '../../src/manifests/crd.ts'
import { installKinds, installOnServing, installWebhooks, removeWebhooks, whenTrusted } from '../../src/manifests/install.ts'
import type { WebhookTarget } from '../../src/manifests/webhook-configuration.ts'
import { webhookConfigurations } from '../../src/manifests/webhook-configuration.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'

const trusted = (await issueAuthority(0)).cert
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const ours = base64(trusted)
const others = base64((await issueAuthority(0)).cert)

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const operator = defineOperator({ name: 'thing', kinds: [kind], webhooks: [defineWebhook(kind, { validate: () => [] })] })

/**
 * Returns the result of `whenTrusted` in a cluster whose webhook configurations contain these `caBundles`. `forConversion` is the
 * `caBundle` of the conversion webhook in the CRD.
 */
async function outcome(caBundles: readonly (string | undefined)[], forConversion?: string, operators = [operator]): Promise<string> {
  const clock = new FakeClock()
  const webhooks = caBundles.map((caBundle) => ({ clientConfig: { ...(caBundle === undefined ? {} : { caBundle }) } }))
  const conversion = { webhook: { clientConfig: { caBundle: forConversion } } }
  const client = { get: async () => ({ webhooks, spec: { conversion } }) } as unknown as Client
  let settled: string | undefined
  const waiting = whenTrusted(client, operators, trusted, clock).then(
    () => (settled = 'trusted'),
    (error: unknown) => (settled = error instanceof ProreusError ? `${error.code}: ${error.message}` : String(error)),
  )
  for (let passed = 0; settled === undefined && passed < 20_000; passed += 1000) await clock.advance(1000)
  return waiting
}

const notYet = 'did not get the CA certificates of this process as caBundle in time; see the log for the reason.'

t.test('webhooks are trusted when each of them has the CA of this process in its caBundle', async (t) => {
  t.equal(await outcome([ours, ours]), 'trusted')
  t.equal(await outcome([ours, base64(Buffer.from(others, 'base64').toString() + trusted)]), 'trusted')
  const late = `PRO_CERTIFICATE: The MutatingWebhookConfiguration thing-mutating ${notYet}`
  t.equal(await outcome([ours, undefined]), late)
  t.equal(await outcome(['', ours]), late)
  t.equal(await outcome([ours, others]), late, 'an earlier process has left its CA')
})

const versions = [
  { name: 'v1', storage: true, spec: Type.Object({ size: Type.Integer() }) },
  { name: 'v2', spec: Type.Object({ replicas: Type.Integer() }) },
] as const
const converted = defineKind({ group: 'example.com', kind: 'Converted', versions })
const converting = defineOperator({
  name: 'converting',
  kinds: [converted],
  conversions: [
    defineConversion(converted, {
      converters: {
        v2: { toHub: ({ spec }) => ({ spec: { size: spec.replicas } }), fromHub: ({ spec }) => ({ spec: { replicas: spec.size } }) },
      },
    }),
  ],
})

t.test('conversion webhooks are trusted when each CRD has the CA of this process in its caBundle', async (t) => {
  const late = `PRO_CERTIFICATE: The CustomResourceDefinition converteds.example.com ${notYet}`
  t.equal(await outcome([], ours, [converting]), 'trusted')
  t.equal(await outcome([], undefined, [converting]), late)
  t.equal(await outcome([], others, [converting]), late)
})

/**
 * Installs the webhooks of an operator. `strategy` is the conversion strategy of the CRD in the cluster. Returns the verb and the kind of
 * each write request, e.g. `patch CustomResourceDefinition`. If `refuse` is defined, each write request fails with this error.
 */
async function written(strategy: string, refuse?: Error): Promise<string[]> {
  const kind = defineKind({
    group: 'example.com',
    kind: 'Plain',
    versions: [
      { name: 'v1', storage: true, spec: Type.Object({}) },
      { name: 'v2', spec: Type.Object({}) },
    ],
  })
  const plain = defineOperator({ name: 'plain', kinds: [kind], webhooks: [defineWebhook(kind, { validate: () => [] })] })
  const writes: string[] = []
  const write = (verb: string) => async (type: { kind: string }) => {
    writes.push(`${verb} ${type.kind}`)
    if (refuse !== undefined) throw refuse
  }
  const get = async (): Promise<object> => ({ metadata: {}, spec: { conversion: { strategy } } })
  await installWebhooks({ get, apply: write('apply'), patch: write('patch') } as unknown as Client, [plain], { url: 'https://127.0.0.1:1' })
  return writes
}

t.test('a CRD that no longer needs its conversion webhook is patched', async (t) => {
  const configurations = ['apply MutatingWebhookConfiguration', 'apply ValidatingWebhookConfiguration']
  t.strictSame(await written('Webhook'), ['patch CustomResourceDefinition', ...configurations])
  t.strictSame(await written('None'), configurations)
})

t.test('a user who may not install gets advice, and other errors are thrown as they are', async (t) => {
  const forbidden = new ApiError(failure(403, 'Forbidden', 'no right'))
  await t.rejects(written('None', forbidden), {
    code: 'PRO_PERMISSION',
    message: /This user may not install: no right: have an administrator/,
  })
  const conflict = new ApiError(failure(409, 'Conflict', 'somebody else'))
  await t.rejects(written('None', conflict), { code: 'PRO_API', message: 'somebody else' })
})

t.test('installation uses the field manager of the installation, and forces CRDs on request', async (t) => {
  const writes: unknown[] = []
  const apply = async ({ kind }: { kind: string }, _object: object, { fieldManager, force }: { fieldManager: string; force?: boolean }) =>
    void writes.push([kind, fieldManager, force])
  const get = async () => ({ status: { conditions: [{ type: 'Established', status: 'True' }] } })
  const client = { apply, get } as unknown as Client
  const running = { name: 'mine', connection: {} as Connection, webhook: { url: 'https://127.0.0.1:1' } }
  for (const forceConflicts of [undefined, false, true]) {
    writes.length = 0
    await installOnServing([operator], running, { forceConflicts })({ webhook: undefined } as never, client)
    t.strictSame(writes, [
      ['CustomResourceDefinition', 'mine-install', forceConflicts === true],
      ['MutatingWebhookConfiguration', 'mine-install', undefined],
      ['ValidatingWebhookConfiguration', 'mine-install', undefined],
    ])
  }
})

type Call = readonly [verb: string, kind: string, what: unknown, options: unknown]

/** Returns a client that records its calls. Each call returns the result of `answer`, or throws the result if it is an error. */
function recording(answer: (verb: string, kind: string, force?: boolean) => unknown = () => ({})): { client: Client; calls: Call[] } {
  const calls: Call[] = []
  const record = async (verb: string, kind: string, what: unknown, options: { force?: boolean }): Promise<unknown> => {
    calls.push([verb, kind, what, options])
    const found = answer(verb, kind, options.force)
    if (found instanceof Error) throw found
    return found
  }
  const client = {
    get: ({ kind }: { kind: string }, key: object, options: object) => record('get', kind, key, options),
    apply: ({ kind }: { kind: string }, object: object, options: object) => record('apply', kind, object, options),
    patch: ({ kind }: { kind: string }, key: object, patch: object, options: object) => record('patch', kind, { key, patch }, options),
    delete: ({ kind }: { kind: string }, key: object, options: object) => record('delete', kind, key, options),
  } as unknown as Client
  return { client, calls }
}

const establishedNow = { metadata: {}, status: { conditions: [{ type: 'Established', status: 'True' }] } }

t.test('CRDs are applied in order, without duplicates, and then waited for', async (t) => {
  const { signal } = new AbortController()
  const { client, calls } = recording(() => establishedNow)
  const other = defineOperator({ name: 'other', kinds: [kind, converted], conversions: converting.conversions })
  await installKinds(client, [operator, other], new FakeClock(), { name: 'mine', signal })
  const apply = { fieldManager: 'mine-install', force: false, signal }
  t.strictSame(calls, [
    ['apply', 'CustomResourceDefinition', crdOf(kind), apply],
    ['apply', 'CustomResourceDefinition', crdOf(converted), apply],
    ['get', 'CustomResourceDefinition', { name: 'things.example.com' }, { signal }],
    ['get', 'CustomResourceDefinition', { name: 'converteds.example.com' }, { signal }],
  ])
})

t.test('operators that define a kind differently are refused before anything is applied', async (t) => {
  const again = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v2', spec: Type.Object({}) }] })
  const { client, calls } = recording(() => establishedNow)
  const operators = [operator, defineOperator({ name: 'other', kinds: [again] })]
  await t.rejects(installKinds(client, operators, new FakeClock(), { name: 'mine' }), {
    code: 'PRO_CONFIG_INVALID',
    message: /^These operators cannot run together: "thing" and "other" define Thing\.example\.com differently: /,
  })
  t.strictSame(calls, [])
})

t.test('a CRD that is not established in time is an error with the reason of the API server', async (t) => {
  const outcomeOf = async (conditions: object[] | undefined, jumpMs = 0): Promise<[string, number]> => {
    const clock = new FakeClock()
    const startedAt = clock.monotonicNow()
    const { client } = recording((verb) => (verb === 'get' ? { status: conditions && { conditions } } : {}))
    let settled: string | undefined
    void installKinds(client, [operator], clock).then(
      () => (settled = 'served'),
      (error: unknown) => (settled = `${(error as ProreusError).code} ${(error as Error).message}`),
    )
    await clock.advance(20)
    clock.set(clock.now() + jumpMs)
    while (settled === undefined && clock.monotonicNow() - startedAt < 60_000) await clock.advance(20)
    return [settled ?? 'waits', clock.monotonicNow() - startedAt]
  }
  const problem = 'PRO_API The API server does not serve the CRD things.example.com: '
  const late = 10_020
  t.strictSame(await outcomeOf(undefined), [`${problem}it was not established in time.`, late])
  for (const jumpMs of [60_000, -3_600_000])
    t.strictSame(await outcomeOf(undefined, jumpMs), [`${problem}it was not established in time.`, late], 'the time of day was set')
  t.strictSame(await outcomeOf([{ type: 'Established', status: 'Unknown' }]), [`${problem}it was not established in time.`, late])
  t.strictSame(await outcomeOf([{ type: 'Other', status: 'True' }]), [`${problem}it was not established in time.`, late])
  t.strictSame(
    await outcomeOf([
      { type: 'A', status: 'True', message: 'fine' },
      { type: 'NamesAccepted', status: 'False', message: '"things" is already in use' },
    ]),
    [`${problem}"things" is already in use.`, late],
  )
  t.strictSame((await outcomeOf([{ type: 'Established', status: 'True' }]))[0], 'served')
  t.strictSame((await outcomeOf(['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }))))[0], 'served')
  t.strictSame(
    (
      await outcomeOf([
        { type: 'Established', status: 'True' },
        { type: 'NamesAccepted', status: 'False', message: '"thing" is already in use' },
      ])
    )[0],
    'served',
    'whatever the other conditions are',
  )
})

function conflict(...causes: [manager: string, field: string][]): ApiError {
  const details = {
    causes: causes.map(([manager, field]) => ({ reason: 'FieldManagerConflict', message: `conflict with "${manager}" using v1`, field })),
  }
  return new ApiError({ ...failure(409, 'Conflict', 'it conflicts'), details })
}

t.test('conflicts in a CRD are forced, except with another installation', async (t) => {
  const installed = async (refusal: ApiError, forceConflicts?: boolean): Promise<unknown[]> => {
    const { client, calls } = recording((verb, _, force) => (verb === 'get' ? establishedNow : force === true ? {} : refusal))
    await installKinds(client, [operator], new FakeClock(), { name: 'mine', forceConflicts })
    return calls.filter(([verb]) => verb === 'apply').map(([, , , options]) => (options as { force: boolean }).force)
  }
  t.strictSame(await installed(conflict(['kubectl', '.spec.scope'])), [false, true])
  t.strictSame(await installed(conflict(['mine-install-conversion', '.spec.scope'])), [false, true], 'its own installation')
  t.strictSame(await installed(new ApiError(failure(409, 'Conflict', 'x'))), [false, true])
  t.strictSame(await installed(conflict(['b-install', '.spec.scope']), true), [true])
  const refusal = conflict(['b-install', '.spec.scope'], ['kubectl', '.spec.x'], ['a-install', '.spec.names'], ['b-install', '.spec.scope'])
  await t.rejects(installed(refusal), {
    code: 'PRO_CONFIG_INVALID',
    message:
      'The CRD things.example.com is installed with another definition by "a", "b" (they differ in .spec.scope, .spec.names): install the same version of the operator everywhere, move your kind to another group, or take the CRD over with --force-conflicts.',
    cause: refusal,
  })
  await t.rejects(installed(new ApiError(failure(500, 'InternalError', 'broken'))), { message: 'broken' })
  await t.rejects(installed(new ApiError(failure(403, 'Forbidden', 'no right'))), {
    code: 'PRO_PERMISSION',
    message:
      'This user may not install: no right: have an administrator apply config/crd and config/webhook, and go on without installing.',
  })
})

t.test('conversions are installed before the configurations, under their own field manager', async (t) => {
  const { signal } = new AbortController()
  const both = defineOperator({ ...converting, kinds: [kind, converted], webhooks: operator.webhooks })
  const { client, calls } = recording(() => ({ metadata: {}, spec: {} }))
  await installWebhooks(client, [both], { url: 'https://h/' }, { name: 'mine', signal })
  const [mutating, validating] = webhookConfigurations([both], { url: 'https://h/' }, namesOf('mine'))
  const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://h/convert' } } }
  const metadata = { name: 'converteds.example.com' }
  const options = { fieldManager: 'mine-install', signal }
  t.strictSame(calls, [
    ['get', 'CustomResourceDefinition', metadata, { signal }],
    [
      'apply',
      'CustomResourceDefinition',
      { metadata, spec: { conversion } },
      { fieldManager: 'mine-install-conversion', force: true, signal },
    ],
    ['apply', 'MutatingWebhookConfiguration', mutating, options],
    ['apply', 'ValidatingWebhookConfiguration', validating, options],
  ])
})

t.test('a conversion webhook that moves between URL and Service removes the other', async (t) => {
  const moved = async (target: WebhookTarget, before: object): Promise<readonly Call[]> => {
    const { client, calls } = recording(() => ({ metadata: {}, spec: { conversion: { webhook: { clientConfig: before } } } }))
    await installWebhooks(client, [converting], target)
    return calls.filter(([verb]) => verb === 'patch')
  }
  const service = { namespace: 'a', name: 'b' }
  const conversionOf = (clientConfig: object): object => ({
    spec: { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } } },
  })
  const patch = (clientConfig: object): unknown => [
    [
      'patch',
      'CustomResourceDefinition',
      { key: { name: 'converteds.example.com' }, patch: conversionOf(clientConfig) },
      { fieldManager: 'converting-install-conversion', signal: undefined },
    ],
  ]
  t.strictSame(await moved({ url: 'https://h' }, { service }), patch({ url: 'https://h/convert', service: null }))
  t.strictSame(await moved({ service }, { url: 'https://h' }), patch({ service: { ...service, path: '/convert' }, url: null }))
  t.strictSame(await moved({ service }, { service }), [])
  t.strictSame(await moved({ url: 'https://h' }, { url: 'https://h' }), [])
})

t.test('the conversion of another installation is kept, unless forced', async (t) => {
  const applied = async (managedFields: object[] | undefined, forceConflicts?: boolean): Promise<boolean> => {
    const { client, calls } = recording(() => ({ metadata: { managedFields }, spec: { conversion: { strategy: 'Webhook' } } }))
    await installWebhooks(client, [converting], { url: 'https://h' }, { name: 'mine', forceConflicts })
    return calls.some(([verb]) => verb === 'apply')
  }
  const by = (manager: string, fields: object = { 'f:conversion': {} }): object => ({ manager, fieldsV1: { 'f:spec': fields } })
  t.equal(await applied(undefined), true)
  t.equal(await applied([by('other-install-conversion')]), false)
  t.equal(await applied([by('other-install-conversion')], true), true)
  t.equal(await applied([by('mine-install-conversion'), by('kubectl')]), true)
  t.equal(await applied([by('other-install', { 'f:scope': {} }), { manager: 'other-install' }, {}]), true)
})

/** A kind with two versions, but without a conversion. */
const plain = defineKind({
  group: 'example.com',
  kind: 'Plain',
  versions: [
    { name: 'v1', storage: true, spec: Type.Object({}) },
    { name: 'v2', spec: Type.Object({}) },
  ],
})

t.test('the conversion webhook of a CRD that no longer needs one is removed', async (t) => {
  const { signal } = new AbortController()
  const { client, calls } = recording(() => ({ metadata: {}, spec: { conversion: { strategy: 'Webhook' } } }))
  await installWebhooks(client, [defineOperator({ name: 'plain', kinds: [plain, kind] })], { url: 'https://h' }, { signal })
  const key = { name: 'plains.example.com' }
  t.strictSame(calls.slice(0, 2), [
    ['get', 'CustomResourceDefinition', key, { signal }],
    [
      'patch',
      'CustomResourceDefinition',
      { key, patch: { spec: { conversion: { strategy: 'None', webhook: null } } } },
      { fieldManager: 'plain-install-conversion', signal },
    ],
  ])
})

t.test('the configurations that are deleted are those that were read', async (t) => {
  const { signal } = new AbortController()
  const labels = { 'app.kubernetes.io/name': 'plain', 'app.kubernetes.io/part-of': 'plain' }
  const operators = [defineOperator({ name: 'plain', kinds: [kind] })]
  const removed = async (answer: unknown): Promise<readonly Call[]> => {
    const { client, calls } = recording((verb) => (verb === 'get' ? { metadata: { uid: 'a', labels } } : answer))
    await removeWebhooks(client, operators, { signal })
    return calls.filter(([verb]) => verb === 'delete')
  }
  const expected = ['Mutating', 'Validating'].map((phase): Call => {
    const options = { preconditions: { uid: 'a' }, signal }
    return ['delete', `${phase}WebhookConfiguration`, { name: `plain-${phase.toLowerCase()}` }, options]
  })
  t.strictSame(await removed({}), expected)
  t.strictSame(await removed(new ApiError(failure(404, 'NotFound', 'another process was faster'))), expected)
  await t.rejects(removed(new ApiError(failure(409, 'Conflict', 'no'))), { message: 'no' })
  const broken = recording(() => new ApiError(failure(500, 'InternalError', 'broken')))
  await t.rejects(removeWebhooks(broken.client, operators), { message: 'broken' })
})

t.test('the URL takes precedence over the Service, and outside a cluster one of them is required', async (t) => {
  const targets = async (running: Partial<RunOptions>, operators = [operator]): Promise<unknown[]> => {
    const { client, calls } = recording(() => establishedNow)
    await installOnServing(operators, { connection: { server: '', describe: '' }, clock: new FakeClock(), ...running })({} as never, client)
    const configurations = calls.filter(([verb, kind]) => verb === 'apply' && kind === 'ValidatingWebhookConfiguration')
    return configurations.map(([, , object]) => (object as { webhooks: { clientConfig: object }[] }).webhooks[0]!.clientConfig)
  }
  const path = '/validate-example-com-v1-thing'
  const inCluster = { server: '', describe: '', inCluster: true, namespace: 'own' }
  t.strictSame(await targets({ webhook: { url: 'https://h:1', service: 'x' }, connection: inCluster }), [{ url: `https://h:1${path}` }])
  t.strictSame(await targets({ connection: inCluster }), [{ service: { namespace: 'own', name: 'thing-webhook', path } }])
  t.strictSame(await targets({ webhook: { service: 'x' } }), [{ service: { namespace: 'thing-system', name: 'x', path } }])
  const plain = defineOperator({ name: 'plain', kinds: [kind] })
  t.strictSame(await targets({}, [plain]), [], 'without webhooks no address is needed')
  t.equal(
    (await targets({ name: 'both', webhook: { url: 'https://h:1' } }, [plain, operator])).length,
    1,
    'one operator with webhooks is enough',
  )
  const unreachable = {
    code: 'PRO_CONFIG_INVALID',
    message:
      '--install outside a cluster needs the address at which the API server reaches the webhooks: add --webhook-url https://HOST:PORT with an address at which the API server reaches this machine, --webhook-service with a Service that leads here, or --enable-webhooks false.',
  }
  for (const operators of [[operator], [converting]])
    t.throws(() => installOnServing(operators, { connection: { server: '', describe: '' } }), unreachable)
})

t.test('the wait for trust reads each configuration and CRD, and can be aborted', async (t) => {
  const { signal } = new AbortController()
  const { client, calls } = recording(() => ({
    webhooks: [{ clientConfig: { caBundle: ours } }],
    spec: { conversion: { webhook: { clientConfig: { caBundle: ours } } } },
  }))
  const both = defineOperator({ ...converting, webhooks: [defineWebhook(converted)] })
  await whenTrusted(client, [both], trusted, new FakeClock(), { name: 'mine', signal })
  t.strictSame(calls, [
    ['get', 'MutatingWebhookConfiguration', { name: 'mine-mutating' }, { signal }],
    ['get', 'ValidatingWebhookConfiguration', { name: 'mine-validating' }, { signal }],
    ['get', 'CustomResourceDefinition', { name: 'converteds.example.com' }, { signal }],
  ])
  const alone = recording(() => ({ spec: { conversion: { webhook: { clientConfig: { caBundle: ours } } } } }))
  await whenTrusted(alone.client, [converting], trusted, new FakeClock())
  t.strictSame(
    alone.calls.map(([, kind]) => kind),
    ['CustomResourceDefinition'],
    'without webhooks there are no configurations',
  )
  const abort = new AbortController()
  const waiting = whenTrusted(recording(() => ({ webhooks: [{ clientConfig: {} }] })).client, [both], trusted, new FakeClock(), {
    name: 'mine',
    signal: abort.signal,
  })
  abort.abort(new Error('stopped'))
  await t.rejects(waiting, { message: 'stopped' })
})
