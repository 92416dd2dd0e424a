import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { ProreusError } from '../../src/api/errors.ts'
import { Type } from '../../src/api/type.ts'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import type { Connection } from '../../src/client/connection.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { installOnServing, installWebhooks, whenTrusted } from '../../src/manifests/install.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const operator = defineOperator({ name: 'thing', kinds: [kind], webhooks: [defineWebhook(kind, { validate: () => [] })] })

/** Waits for the trust in configurations whose webhooks, and in CRDs whose conversion, have these `caBundle`s. */
async function outcome(caBundles: readonly (string | undefined)[], forConversion?: string, operators = [operator]): Promise<string> {
  const clock = new FakeClock()
  const webhooks = caBundles.map((caBundle) => ({ clientConfig: { ...(caBundle === undefined ? {} : { caBundle }) } }))
  const conversion = { webhook: { clientConfig: { caBundle: forConversion } } }
  const client = { get: async () => ({ webhooks, spec: { conversion } }) } as unknown as Client
  let ended: string | undefined
  const waiting = whenTrusted(client, operators, clock).then(
    () => (ended = 'trusted'),
    (error: unknown) => (ended = error instanceof ProreusError ? `${error.code}: ${error.message}` : String(error)),
  )
  for (let passed = 0; ended === undefined && passed < 20_000; passed += 1000) await clock.advance(1000)
  return waiting
}

t.test('webhooks are trusted when each of them has a caBundle', async (t) => {
  t.equal(await outcome(['a', 'b']), 'trusted')
  const late = 'PRO_CERTIFICATE: The MutatingWebhookConfiguration thing-mutating got no caBundle in time; the log says why.'
  t.equal(await outcome(['a', undefined]), late)
  t.equal(await outcome(['', 'b']), late)
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

t.test('conversion webhooks are trusted when each definition has a caBundle', async (t) => {
  t.equal(await outcome([], 'a', [converting]), 'trusted')
  t.equal(
    await outcome([], undefined, [converting]),
    'PRO_CERTIFICATE: The CustomResourceDefinition converteds.example.com got no caBundle in time; the log says why.',
  )
})

/** Installs the webhooks of an operator where the definition has this conversion, and gives what was written. */
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
  const get = async (): Promise<object> => ({ spec: { conversion: { strategy } } })
  await installWebhooks({ get, apply: write('apply'), patch: write('patch') } as unknown as Client, [plain], { url: 'https://127.0.0.1:1' })
  return writes
}

t.test('a definition that converted by webhook before, and need not any more, is told so', async (t) => {
  const configurations = ['apply MutatingWebhookConfiguration', 'apply ValidatingWebhookConfiguration']
  t.strictSame(await written('Webhook'), ['patch CustomResourceDefinition', ...configurations])
  t.strictSame(await written('None'), configurations)
})

t.test('a user who may not install is told the way around; other failures are as they are', async (t) => {
  const forbidden = new ApiError(failure(403, 'Forbidden', 'no right'))
  await t.rejects(written('None', forbidden), {
    code: 'PRO_PERMISSION',
    message: /This user may not install: no right: have an administrator/,
  })
  const conflict = new ApiError(failure(409, 'Conflict', 'somebody else'))
  await t.rejects(written('None', conflict), { code: 'PRO_API', message: 'somebody else' })
})

t.test('what is served is installed under the name of the installation; a CRD is taken over where that is asked for', async (t) => {
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
