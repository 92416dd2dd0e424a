/** Tests of the webhook handlers of operators. A control plane calls the handlers for objects, subresources and deletions. */
import t from 'tap'
import { configMap, deployment, pod, secret } from '../../src/api/builtin.ts'
import { forbidden, invalid } from '../../src/api/field-error.ts'
import type { DeepReadonly, JsonObject } from '../../src/api/json.ts'
import { defineKind } from '../../src/api/kind.ts'
import type { Infer } from '../../src/api/kind.ts'
import { failure } from '../../src/api/status.ts'
import { Type } from '../../src/api/type.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { accessReviewRule } from '../../src/client/is-allowed.ts'
import type { Incoming } from '../../src/webhook/definition/definition.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { anyResource } from '../../src/webhook/definition/subresource.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-admission-handlers'
const group = 'handlers.example.com'

const gadget = defineKind({
  group,
  kind: 'Gadget',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({
        size: Type.Integer({ minimum: 1, default: 2 }),
        steps: Type.Optional(Type.Array(Type.String())),
        owner: Type.Optional(Type.String()),
      }),
      status: Type.Object({ size: Type.Integer(), color: Type.String() }),
      scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
    },
  ],
})
type Gadget = Infer<typeof gadget>

const withStep = (object: DeepReadonly<Incoming<Gadget>>, step: string): DeepReadonly<Incoming<Gadget>> =>
  object.spec.steps?.includes(step) === true
    ? object
    : { ...object, spec: { ...object.spec, steps: [...(object.spec.steps ?? []), `${step}${object.spec.steps?.length ?? 0}`] } }

/** An operator with webhooks for Gadgets. The operator `policies` has different webhooks for the same kind. */
const gadgets = defineOperator({
  name: 'gadgets',
  kinds: [gadget],
  webhooks: [
    defineWebhook(gadget, {
      operations: ['CREATE', 'DELETE'],
      default: (object) => withStep(object, 'first'),
      validate: ({ spec }) => (spec.size > 5 ? [invalid('spec.size', spec.size, 'must be small')] : []),
      validateDelete: ({ metadata }) => (metadata.labels?.keep === 'yes' ? failure(403, 'Forbidden', 'it is kept') : []),
    }),
    defineWebhook(gadget, {
      operations: ['CREATE'],
      default: (object) => withStep(object, 'second'),
      validate: ({ spec }) => (spec.owner === 'nobody' ? [forbidden('spec.owner', 'must be somebody')] : []),
      async validateInCluster({ spec }, _old, { requesterCan, user }) {
        if (spec.owner !== 'secrets' || (await requesterCan({ verb: 'get', type: secret }))) return []
        return [forbidden('spec.owner', `user "${user.username}" cannot get secrets`)]
      },
      rbac: [accessReviewRule],
    }),
    defineWebhook(gadget, {
      reads: [secret],
      validateInCluster: ({ spec, metadata }, _old, { cache, namespace }) =>
        spec.owner === 'cached' && cache.get(secret, { namespace, name: metadata.name }) === undefined
          ? [forbidden('spec.owner', 'has no Secret')]
          : [],
    }),
    defineWebhook(gadget, {
      subresource: 'status',
      validate: ({ status }) => (status?.color === 'mauve' ? [invalid('status.color', 'mauve', 'is no color')] : []),
    }),
  ],
})

const policies = defineOperator({
  name: 'policies',
  kinds: [],
  webhooks: [
    // This webhook allows every Gadget. The API server must nevertheless deny the Gadgets that a webhook of the operator `gadgets` denies.
    defineWebhook(gadget, { validateInCluster: () => [] }),
    defineWebhook(anyResource, {
      subresource: 'scale',
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      validate: ({ spec }) => ((spec?.replicas ?? 0) > 3 ? [forbidden('spec.replicas', 'nothing may have more than 3')] : []),
    }),
    defineWebhook(pod, {
      default: (object) => ({ ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, seen: 'yes' } } }),
      validate: ({ spec }) =>
        (spec?.containers ?? []).flatMap(({ image = '' }, index) =>
          image.endsWith(':latest') ? [invalid(`spec.containers[${index}].image`, image, 'must name a version')] : [],
        ),
    }),
    defineWebhook(pod, {
      name: 'late',
      objectSelector: { matchLabels: { late: 'yes' } },
      default: (object) => ({
        ...object,
        metadata: {
          ...object.metadata,
          annotations: { ...object.metadata.annotations, late: `seen: ${object.metadata.annotations?.['seen']}` },
        },
      }),
    }),
    defineWebhook(pod, {
      subresource: 'eviction',
      validateInCluster: ({ metadata }) => (metadata?.name === 'stays' ? failure(429, 'TooManyRequests', 'not now') : []),
    }),
    defineWebhook(configMap, {
      objectSelector: { matchLabels: { checked: 'yes' } },
      matchConditions: [
        { name: 'not-exempt', expression: "!has(object.metadata.annotations) || !('exempt' in object.metadata.annotations)" },
        { name: 'not-a-node', expression: "!('system:nodes' in request.userInfo.groups)" },
      ],
      validate: ({ data }) => (data?.['mode'] === 'bad' ? [invalid('data[mode]', 'bad', 'must be good')] : []),
      sideEffects: 'NoneOnDryRun',
    }),
  ],
})

const gadgetRules = [{ apiGroups: [group], resources: ['gadgets'], verbs: ['*'] }]
const controlPlane = await conformanceControlPlane(t, {
  namespaces: [namespace],
  users: [{ name: 'jane', rules: gadgetRules }],
})
const api = apiOf(t, controlPlane.connection)
const jane = apiOf(t, controlPlane.connectionFor('jane'))
await controlPlane.startOperator([gadgets, policies])

const core = `/api/v1/namespaces/${namespace}`
const path = `/apis/${group}/v1/namespaces/${namespace}/gadgets`
const merge = { contentType: 'application/merge-patch+json' }
const configMapWith = (data: JsonObject, metadata: JsonObject = {}): object => ({
  body: { metadata: { name: 'c', labels: { checked: 'yes' }, ...metadata }, data },
})
const gadgetWith = (spec: JsonObject, metadata: JsonObject = {}): object => ({
  body: { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'g', ...metadata }, spec },
})
const podWith = (image: string, name = 'p'): object => ({ body: { metadata: { name }, spec: { containers: [{ name: 'main', image }] } } })

function causesOf({ body }: RawAnswer): JsonObject[] {
  return (body as { details?: { causes?: JsonObject[] } }).details?.causes ?? []
}

// The API server loads a webhook configuration as a whole. If the API server calls one webhook of a configuration, it therefore knows all
// webhooks of this configuration.
await until('the webhooks are called', async () => {
  const refused = await api('POST', `${core}/configmaps?dryRun=All`, configMapWith({ mode: 'bad' }))
  const changed = await api('POST', `${core}/pods?dryRun=All`, podWith('x:1'))
  return refused.status === 422 && JSON.stringify(changed.body).includes('"seen":"yes"')
})

t.test('several handlers of one kind', async (t) => {
  t.test('default in order', async (t) => {
    const { status, body } = await api('POST', `${path}?dryRun=All`, gadgetWith({}))
    t.equal(status, 201)
    t.strictSame(body.spec, { size: 2, steps: ['first0', 'second1'] })
  })
  t.test('report their errors together, and none reverts the error of another', async (t) => {
    const refused = await api('POST', `${path}?dryRun=All`, gadgetWith({ size: 9, owner: 'nobody' }))
    t.equal(refused.status, 422)
    t.match(refused.body.message, /^admission webhook "mutate-gadget-v1\.handlers\.example\.com" denied the request: Gadget\./)
    t.strictSame(causesOf(refused), [
      { reason: 'FieldValueForbidden', message: 'Forbidden: must be somebody', field: 'spec.owner' },
      { reason: 'FieldValueInvalid', message: 'Invalid value: 9: must be small', field: 'spec.size' },
    ])
  })
  t.test('report their errors together with those of the schema', async (t) => {
    const refused = await api('POST', `${path}?dryRun=All`, gadgetWith({ size: 0, owner: 'nobody' }))
    t.strictSame(
      causesOf(refused).map(({ field }) => field),
      ['spec.owner', 'spec.size'],
    )
  })
  t.test('run for their own operations only', async (t) => {
    t.equal((await api('POST', path, gadgetWith({}, { name: 'grows' }))).status, 201)
    const grown = await api('PATCH', `${path}/grows`, { body: { spec: { size: 9, owner: 'nobody' } }, ...merge })
    t.equal(grown.status, 200, 'no handler refuses updates')
  })
})

t.test('a handler can require another permission of the requester', async (t) => {
  const refused = await jane('POST', `${path}?dryRun=All`, gadgetWith({ owner: 'secrets' }))
  t.strictSame(causesOf(refused), [
    { reason: 'FieldValueForbidden', message: 'Forbidden: user "jane" cannot get secrets', field: 'spec.owner' },
  ])
  t.equal((await api('POST', `${path}?dryRun=All`, gadgetWith({ owner: 'secrets' }))).status, 201)
})

t.test('a handler reads watched types from the cache, even without controllers', async (t) => {
  const create = (): Promise<RawAnswer> => api('POST', `${path}?dryRun=All`, gadgetWith({ owner: 'cached' }, { name: 'cached' }))
  t.match(causesOf(await create()), [{ field: 'spec.owner', message: 'Forbidden: has no Secret' }])
  await controlPlane.client.create(secret, { metadata: { namespace, name: 'cached' } })
  await until('the Secret is seen', async () => (await create()).status === 201)
})

t.test('a handler refuses deletions of an object and of a collection', async (t) => {
  t.equal((await api('POST', path, gadgetWith({}, { name: 'kept', labels: { keep: 'yes' } }))).status, 201)
  for (const address of [`${path}/kept`, `${path}?labelSelector=keep%3Dyes`]) {
    const { status, body } = await api('DELETE', address)
    t.equal(status, 403, address)
    t.equal(body.message, 'admission webhook "validate-gadget-v1.handlers.example.com" denied the request: it is kept')
  }
  await api('PATCH', `${path}/kept`, { body: { metadata: { labels: { keep: 'no' } } }, ...merge })
  t.equal((await api('DELETE', `${path}/kept`)).status, 200)
})

t.test('handlers of subresources', async (t) => {
  t.equal((await api('POST', path, gadgetWith({}, { name: 'sub' }))).status, 201)
  t.test('validate the status', async (t) => {
    const refused = await api('PATCH', `${path}/sub/status`, { body: { status: { size: 2, color: 'mauve' } }, ...merge })
    t.equal(refused.status, 422)
    t.match(refused.body.message, /^admission webhook "validate-gadget-status-v1\.handlers\.example\.com" denied the request: /)
    t.match(causesOf(refused), [{ field: 'status.color', message: 'Invalid value: "mauve": is no color' }])
    t.equal((await api('PATCH', `${path}/sub/status`, { body: { status: { size: 2, color: 'red' } }, ...merge })).status, 200)
  })
  t.test('validate the scale of any type', async (t) => {
    const labels = { app: 'd' }
    const spec = {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'x' }] } },
    }
    await controlPlane.client.create(deployment, { metadata: { namespace, name: 'd' }, spec })
    for (const address of [`${path}/sub/scale`, `/apis/apps/v1/namespaces/${namespace}/deployments/d/scale`]) {
      const refused = await api('PATCH', address, { body: { spec: { replicas: 4 } }, ...merge })
      t.equal(refused.status, 422, address)
      t.match(
        refused.body.message,
        /^admission webhook "validate-any-scale\.any\.test" denied the request: Scale\.autoscaling ".+" is invalid: /,
      )
      t.match(causesOf(refused), [{ field: 'spec.replicas', message: 'Forbidden: nothing may have more than 3' }])
      t.equal(
        (await api('PATCH', address, { body: { spec: { replicas: 0 } }, ...merge })).status,
        address.includes('deployments') ? 200 : 422,
      )
    }
  })
  t.test('validate an eviction', async (t) => {
    await until('Pods can be made', async () => (await api('POST', `${core}/pods`, podWith('x:1', 'stays'))).status === 201)
    const { status, body } = await api('POST', `${core}/pods/stays/eviction`, { body: { metadata: { name: 'stays' } } })
    t.equal(status, 429)
    t.match(body.message, /"validate-pod-eviction-v1\.core\.test" denied the request: not now/)
  })
})

t.test('a handler for a built-in type excludes the system namespaces', async (t) => {
  const created = await api('POST', `${core}/pods?dryRun=All`, podWith('x:1'))
  t.match(created.body, { metadata: { annotations: { seen: 'yes' } } })
  const refused = await api('POST', `${core}/pods?dryRun=All`, podWith('x:latest'))
  t.equal(refused.status, 422)
  t.equal(
    refused.body.message,
    'admission webhook "validate-pod-v1.core.test" denied the request: Pod "p" is invalid: spec.containers[0].image: Invalid value: "x:latest": must name a version',
  )
  const elsewhere = await api('POST', '/api/v1/namespaces/kube-system/pods?dryRun=All', podWith('x:latest'))
  t.notMatch(elsewhere.text, /must name a version/, 'the webhook is not called for kube-system')
})

t.test('a webhook receives only requests that its selectors and match conditions allow', async (t) => {
  const create = (data: JsonObject, metadata: JsonObject): Promise<RawAnswer> =>
    api('POST', `${core}/configmaps?dryRun=All`, configMapWith(data, metadata))
  t.equal((await create({ mode: 'bad' }, {})).status, 422)
  t.equal((await create({ mode: 'bad' }, { labels: { checked: 'no' } })).status, 201, 'the object selector')
  t.equal((await create({ mode: 'bad' }, { annotations: { exempt: 'x' } })).status, 201, 'the match conditions')
  const late = { metadata: { name: 'p', labels: { late: 'yes' } }, spec: { containers: [{ name: 'main', image: 'x:1' }] } }
  const both = await api('POST', `${core}/pods?dryRun=All`, { body: late })
  t.match(
    both.body,
    { metadata: { annotations: { seen: 'yes', late: 'seen: yes' } } },
    'a separate webhook entry is called after the others',
  )
})
