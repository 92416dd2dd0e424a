import t from 'tap'
import { configMap, pod } from '../../src/api/builtin.ts'
import type { JsonObject } from '../../src/api/json.ts'
import type { Client } from '../../src/client/client.ts'
import type { AdmissionContext } from '../../src/webhook/context.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'
import { withClient } from '../../src/webhook/operator-context.ts'
import { RequestContext } from '../../src/webhook/request-context.ts'
import type { Call } from '../../src/webhook/handler.ts'
import type { AdmissionRequest } from '../../src/webhook/review.ts'
import { AdmissionCache } from '../../src/webhook/admission-cache.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'

const stop = new AbortController()
const call = {
  cache: new AdmissionCache(undefined),
  access: { allows: async () => true },
  logger: silentLogger(),
  signal: stop.signal,
  client: {} as Client,
} as unknown as Call
const request = {
  uid: 'u',
  operation: 'UPDATE',
  dryRun: true,
  userInfo: { username: 'jane' },
  namespace: 'ns',
  name: 'x',
  resource: { group: '', version: 'v1', resource: 'pods' },
  subResource: '',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  oldObject: { metadata: { name: 'x' } },
  options: { fieldManager: 'kubectl' },
} as unknown as AdmissionRequest

t.test("a handler finds its operator's client, and everything else of the request", async (t) => {
  const asked: unknown[] = []
  const client = {
    get: async (type: unknown, key: unknown, options: { signal?: AbortSignal }) => void asked.push(type, key, options.signal),
  }
  let seen: AdmissionContext<JsonObject> | undefined
  const webhook = withClient(
    defineWebhook(pod, {
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      async validateInCluster(_object, _old, context) {
        seen = context as unknown as AdmissionContext<JsonObject>
        await context.client.get(configMap, { name: 'c' })
        context.warn('careful')
        context.audit('key', 'value')
        return (await context.requesterCan({ verb: 'get', type: pod })) ? [] : []
      },
      validateDelete: async (_object, context) => {
        await context.client.get(pod, { name: 'd' })
        return []
      },
    }),
    client as unknown as Client,
  )
  const context = new RequestContext(request, undefined, call)
  await webhook.handlers.validateInCluster!({}, undefined, context)
  await webhook.handlers.validateDelete!({}, context)
  t.strictSame(asked.length, 6)
  t.equal(asked[0], configMap)
  t.equal(asked[2], stop.signal, 'its requests end with the review')
  t.equal(asked[3], pod)
  for (const field of [
    'operation',
    'dryRun',
    'user',
    'namespace',
    'name',
    'resource',
    'subResource',
    'options',
    'oldObject',
    'signal',
    'logger',
    'cache',
  ] as const)
    t.equal(seen![field], context[field], field)
  t.strictSame(context.said(), { warnings: ['careful'], auditAnnotations: { key: 'value' } })
})

t.test('handlers that do not ask the cluster stay as they are', async (t) => {
  const webhook = defineWebhook(pod, { validate: () => [] })
  const named = withClient(webhook, {} as Client)
  t.equal(named.handlers.validate, webhook.handlers.validate)
  t.strictSame(Object.keys(named.handlers), Object.keys(webhook.handlers))
})
