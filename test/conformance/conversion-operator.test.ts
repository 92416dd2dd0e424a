import t from 'tap'
import { customResourceDefinition } from '../../src/api/builtin.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { invalid } from '../../src/api/field-error.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { installKinds, installWebhooks } from '../../src/manifests/install.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { applyPatch, itemsOf, jsonPatch, mergePatch, metadataOf } from '../support/conformance/objects.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const group = 'conversion.example.com'
const namespace = 'conversion'

const Steps = (extra: object) =>
  Type.Array(Type.Object({ name: Type.String(), run: Type.String(), build: Type.Optional(Type.Integer()), ...extra }), {
    listType: 'map',
    listMapKeys: ['name'],
  })

const plan = defineKind({
  group,
  kind: 'Plan',
  versions: [
    {
      name: 'v1',
      storage: true,
      spec: Type.Object({
        schedule: Type.Object({ minute: Type.String(), hour: Type.String() }),
        steps: Type.Optional(Steps({ retries: Type.Integer({ default: 1 }) })),
        priority: Type.Integer({ minimum: 0, maximum: 10, default: 5 }),
      }),
      status: Type.Object({ phase: Type.String() }),
    },
    {
      name: 'v1beta1',
      spec: Type.Object({
        cron: Type.String(),
        steps: Type.Optional(Steps({})),
        team: Type.Optional(Type.String()),
      }),
      status: Type.Object({ state: Type.String() }),
    },
  ],
})

const operator = defineOperator({
  name: 'plan',
  kinds: [plan],
  webhooks: [
    defineWebhook(plan, {
      validate: ({ spec }) => (spec.schedule.hour === '13' ? [invalid('spec.schedule.hour', '13', 'brings bad luck')] : []),
    }),
  ],
  conversions: [
    defineConversion(plan, {
      converters: {
        v1beta1: {
          toHub({ spec: { cron, steps }, status }) {
            const [minute, hour, ...rest] = cron.split(' ')
            if (minute === undefined || hour === undefined || rest.length > 0)
              throw new Error(`spec.cron: ${JSON.stringify(cron)} has not two parts`)
            return {
              spec: { schedule: { minute, hour }, ...(steps && { steps }) },
              status: status && { phase: status.state?.toUpperCase() ?? '' },
            }
          },
          fromHub: ({ spec: { schedule, steps }, status }) => ({
            spec: {
              cron: `${schedule.minute} ${schedule.hour}`,
              ...(steps && { steps: steps.map(({ name, run, build }) => ({ name, run, ...(build === undefined ? {} : { build }) })) }),
            },
            status: status && { state: status.phase?.toLowerCase() ?? '' },
          }),
        },
      },
    }),
  ],
})

t.test('objects of a kind with a conversion', async (t) => {
  // The converters fail on purpose, so their errors are not printed.
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace], logger: silentLogger() })
  const { client } = controlPlane
  const api = apiOf(t, controlPlane.connection)
  await controlPlane.startOperator([operator])
  t.teardown(() => client.delete(customResourceDefinition, { name: `plans.${group}` }).catch(() => undefined))
  const path = (version: string, name = ''): string => `/apis/${group}/${version}/namespaces/${namespace}/plans${name && `/${name}`}`
  const bodyOf = (version: string, name: string, spec: JsonObject): JsonObject => ({
    apiVersion: `${group}/${version}`,
    kind: 'Plan',
    metadata: { name },
    spec,
  })
  const specOf = ({ status, text, body }: RawAnswer): JsonObject => {
    if (status >= 300) throw new Error(text)
    return body.spec as JsonObject
  }
  const schedule = { minute: '0', hour: '4' }
  // The API server calls a new conversion webhook only after some moments.
  await until('the other version is converted', async () => {
    const probe = await api('POST', `${path('v1beta1')}?dryRun=All`, { body: bodyOf('v1beta1', 'probe', { cron: '1 2 3' }) })
    return probe.text.includes('has not two parts')
  })

  t.test('are written in one version and read in the other without loss', async (t) => {
    const spec = { schedule, steps: [{ name: 'a', run: 'x', retries: 7 }], priority: 1 }
    t.strictSame(specOf(await api('POST', path('v1'), { body: bodyOf('v1', 'one', spec) })), spec)
    const shown = await api('GET', path('v1beta1', 'one'))
    t.match(shown.body, { apiVersion: `${group}/v1beta1`, kind: 'Plan', spec: { cron: '0 4', steps: [{ name: 'a', run: 'x' }] } })
    t.match(metadataOf(shown.body).annotations, { [`conversion.${group}/v1`]: /priority/ })

    const replaced = await api('PUT', path('v1beta1', 'one'), {
      body: { ...shown.body, spec: { cron: '5 4', steps: [{ name: 'a', run: 'y' }], team: 'blue' } },
    })
    t.strictSame(specOf(replaced), { cron: '5 4', steps: [{ name: 'a', run: 'y' }], team: 'blue' })
    const stored = await api('GET', path('v1', 'one'))
    t.strictSame(specOf(stored), { schedule: { minute: '5', hour: '4' }, steps: [{ name: 'a', run: 'y', retries: 7 }], priority: 1 })
    t.strictSame(Object.keys(metadataOf(stored.body).annotations as JsonObject), [`conversion.${group}/v1beta1`])
    t.equal(metadataOf(stored.body).uid, metadataOf(shown.body).uid)
  })

  t.test('keep integers beyond 2^53 in both versions', async (t) => {
    const step = (name: string, build: string, retries: string): string =>
      `{"name":"${name}","run":"x","build":${build},"retries":${retries}}`
    const steps = [step('a', '9007199254740992', '-9007199254740993'), step('b', '9007199254740993', '9223372036854775807')]
    const body = JSON.stringify(bodyOf('v1', 'large', { schedule, steps: [], priority: 1 })).replace('[]', `[${steps.join(',')}]`)
    t.equal((await api('POST', path('v1'), { body })).status, 201)
    const shown = await api('GET', path('v1beta1', 'large'))
    t.strictSame(shown.text.match(/"build":\d+/g), ['"build":9007199254740992', '"build":9007199254740993'])
    t.match(shown.text, /"value\\":-9007199254740993,.*"value\\":9223372036854775807,/)
    const edited = shown.text.replace('"cron":"0 4"', '"cron":"5 4"')
    t.equal((await api('PUT', path('v1beta1', 'large'), { body: edited })).status, 200)
    const stored = await api('GET', path('v1', 'large'))
    t.match(stored.body.spec, { schedule: { minute: '5' }, priority: 1 })
    t.strictSame(stored.text.match(/"(build|retries)":-?\d+/g)?.sort(), [
      '"build":9007199254740992',
      '"build":9007199254740993',
      '"retries":-9007199254740993',
      '"retries":9223372036854775807',
    ])
    await api('DELETE', path('v1', 'large'))
  })

  t.test('are patched in either version', async (t) => {
    await api('POST', path('v1beta1'), { body: bodyOf('v1beta1', 'patched', { cron: '1 2', team: 'red' }) })
    const merged = await api('PATCH', path('v1', 'patched'), { body: { spec: { priority: 9 } }, contentType: mergePatch })
    t.strictSame(specOf(merged), { schedule: { minute: '1', hour: '2' }, priority: 9 })
    const patch = [{ op: 'replace', path: '/spec/cron', value: '3 4' }]
    const patched = await api('PATCH', path('v1beta1', 'patched'), { body: patch, contentType: jsonPatch })
    t.strictSame(specOf(patched), { cron: '3 4', team: 'red' })
    t.strictSame(specOf(await api('GET', path('v1', 'patched'))), { schedule: { minute: '3', hour: '4' }, priority: 9 })
  })

  t.test('are applied in either version, with conflicts between managers', async (t) => {
    const apply = (version: string, manager: string, spec: JsonObject) =>
      api('PATCH', `${path(version, 'applied')}?fieldManager=${manager}`, {
        body: bodyOf(version, 'applied', spec),
        contentType: applyPatch,
      })
    t.strictSame(specOf(await apply('v1beta1', 'old', { cron: '1 2', steps: [{ name: 'a', run: 'x' }], team: 'red' })).team, 'red')
    const both = await apply('v1', 'new', { schedule: { minute: '1', hour: '2' }, steps: [{ name: 'b', run: 'y' }], priority: 2 })
    t.match(specOf(both), { steps: [{ name: 'a' }, { name: 'b', run: 'y', retries: 1 }], priority: 2 })
    const conflict = await apply('v1', 'third', { schedule: { minute: '1', hour: '2' }, priority: 3 })
    t.equal(conflict.status, 409, conflict.text)
    t.match(specOf(await apply('v1beta1', 'old', { cron: '1 2', team: 'blue' })), { team: 'blue', steps: [{ name: 'b', run: 'y' }] })
    // The field manager `old` has applied the object in v1beta1. Now it applies the object in v1.
    t.match(specOf(await apply('v1', 'old', { schedule: { minute: '1', hour: '2' }, priority: 2 })), {
      steps: [{ name: 'b' }],
      priority: 2,
    })
  })

  t.test('have a status that is written in either version', async (t) => {
    await api('POST', path('v1'), { body: bodyOf('v1', 'with-status', { schedule, priority: 3 }) })
    const answer = await api('PATCH', `${path('v1beta1', 'with-status')}/status`, {
      body: { status: { state: 'done' } },
      contentType: mergePatch,
    })
    t.match(answer.body, { status: { state: 'done' }, spec: { cron: '0 4' } })
    t.match((await api('GET', path('v1', 'with-status'))).body, { status: { phase: 'DONE' }, spec: { schedule, priority: 3 } })
  })

  t.test('are listed and watched in either version', async (t) => {
    const old = resourceType<KubernetesObject & { spec: { cron: string } }>({ group, version: 'v1beta1', kind: 'Plan', plural: 'plans' })
    const stop = new AbortController()
    t.teardown(() => stop.abort())
    const { metadata } = await client.list(old, { namespace })
    const seen: string[] = []
    const watching = (async () => {
      for await (const event of client.watch(old, { namespace, resourceVersion: metadata.resourceVersion!, signal: stop.signal })) {
        if (event.type === 'ADDED') seen.push(`${event.object.apiVersion} ${event.object.spec.cron}`)
      }
    })().catch(() => undefined)
    for (const index of [1, 2, 3, 4])
      await api('POST', path(index % 2 === 0 ? 'v1' : 'v1beta1'), {
        body:
          index % 2 === 0
            ? bodyOf('v1', `listed-${index}`, { schedule: { minute: `${index}`, hour: '5' } })
            : bodyOf('v1beta1', `listed-${index}`, { cron: `${index} 5` }),
      })
    await until('all are seen', () => seen.length >= 4)
    t.strictSame(
      seen,
      [1, 2, 3, 4].map((minute) => `${group}/v1beta1 ${minute} 5`),
    )
    const items = itemsOf(await api('GET', path('v1beta1')))
    t.ok(items.length >= 4)
    t.ok(items.every(({ apiVersion, spec }) => apiVersion === `${group}/v1beta1` && 'cron' in (spec as JsonObject)))
    stop.abort()
    await watching
  })

  t.test('are sent to the webhooks of the stored version when they are written in the other one', async (t) => {
    const answer = await api('POST', path('v1beta1'), { body: bodyOf('v1beta1', 'unlucky', { cron: '1 13' }) })
    t.equal(answer.status, 422, answer.text)
    t.match(answer.body.message, /spec\.schedule\.hour: Invalid value: "13": brings bad luck/)
  })

  t.test('are refused with the reason when they cannot be converted', async (t) => {
    const answer = await api('POST', path('v1beta1'), { body: bodyOf('v1beta1', 'wrong', { cron: 'daily' }) })
    t.equal(answer.status, 500, answer.text)
    t.match(
      answer.body.message,
      /conversion webhook for conversion\.example\.com\/v1beta1, Kind=Plan failed: .*spec\.cron: "daily" has not two parts/,
    )
    t.equal((await api('GET', path('v1', 'wrong'))).status, 404)
    t.equal((await api('GET', path('v1beta1'))).status, 200)
  })

  t.test('keep the conversion after another installation, and lose it when that has no converter', async (t) => {
    const name = { name: `plans.${group}` }
    const { spec } = await client.get(customResourceDefinition, name)
    t.match(spec.conversion, { strategy: 'Webhook', webhook: { clientConfig: { url: /\/convert$/, caBundle: /./ } } })
    await installKinds(client, [operator], systemClock)
    const again = await client.get(customResourceDefinition, name)
    t.strictSame(again.spec.conversion, spec.conversion)
    const target = { url: spec.conversion!.webhook!.clientConfig!.url!.replace('/convert', '') }
    await installWebhooks(client, [{ ...operator, webhooks: [], conversions: [] }], target)
    t.strictSame((await client.get(customResourceDefinition, name)).spec.conversion, { strategy: 'None' })
    await installWebhooks(client, [{ ...operator, webhooks: [] }], target)
    await until('the caBundle is there again', async () => {
      const { spec } = await client.get(customResourceDefinition, name)
      return spec.conversion?.webhook?.clientConfig?.caBundle !== undefined
    })
    await until('it is called again', async () => (await api('GET', path('v1beta1'))).status === 200)
  })

  t.test('get no value past the schema from a forged conversion annotation', async (t) => {
    await api('POST', path('v1'), { body: bodyOf('v1', 'hostile', { schedule, priority: 1 }) })
    const { body } = await api('GET', path('v1beta1', 'hostile'))
    const annotation = (metadataOf(body).annotations as Record<string, string>)[`conversion.${group}/v1`]!
    const hostile = { ...metadataOf(body), annotations: { [`conversion.${group}/v1`]: annotation.replace('"value":1', '"value":999') } }
    t.equal((await api('PUT', path('v1beta1', 'hostile'), { body: { ...body, metadata: hostile } })).status, 200)
    t.strictSame(specOf(await api('GET', path('v1', 'hostile'))), { schedule, priority: 5 })
  })
})
