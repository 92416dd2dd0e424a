import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { configMap, mutatingWebhookConfiguration, namespace, pod, validatingWebhookConfiguration } from '../../../src/api/builtin.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { issueAuthority, issueLeaf } from '../../../src/certs/issue.ts'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/client.ts'
import type { DevCluster } from '../../../src/devcluster/dev-cluster.ts'
import { clientFor, createWidgetDefinition, widgetType } from '../../support/devcluster/client.ts'
import { kubectlOf, startTestCluster } from '../../support/devcluster/kubectl.ts'
import { widget } from '../../support/devcluster/definitions.ts'
import { needsKubectl } from '../../support/process/process.ts'

type Handler = (request: JsonObject) => JsonObject

interface World {
  readonly cluster: DevCluster
  readonly client: Client
  /** Returns the `clientConfig` of a webhook that calls the handler for this path. */
  readonly clientConfig: (path: string) => { url: string; caBundle: string }
  readonly caBundle: string
  /** The reviews that the webhook server received, each as `PATH OPERATION NAME`. */
  readonly asked: string[]
}

/** Starts an API server and a webhook server. `caBundle` is the CA of the webhook server. */
async function start(t: Test, handlers: Record<string, Handler>): Promise<World> {
  const now = Date.now()
  const authority = await issueAuthority(now)
  const leaf = await issueLeaf(authority, { names: ['hooks.system.svc'], ips: ['127.0.0.1'], now })
  const asked: string[] = []
  const answer = async (request: IncomingMessage): Promise<string> => {
    const path = request.url!.slice(1).split('?')[0]!
    const review = (await json(request)) as { request: JsonObject; apiVersion: string }
    asked.push(`${path} ${String(review.request.operation)} ${String(review.request.name ?? '')}`)
    return JSON.stringify({
      apiVersion: review.apiVersion,
      kind: 'AdmissionReview',
      response: { uid: review.request.uid!, ...handlers[path]!(review.request) },
    })
  }
  const server = createServer(leaf, (request, response) => {
    answer(request).then(
      (text) => response.setHeader('content-type', 'application/json').end(text),
      () => response.writeHead(500).end('boom'),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cluster = await startTestCluster(t, { controllers: false, services: { 'system/hooks': url } })
  const caBundle = Buffer.from(authority.cert).toString('base64')
  return {
    cluster,
    client: clientFor(t, cluster.connection),
    clientConfig: (path) => ({ url: `${url}/${path}`, caBundle }),
    caBundle,
    asked,
  }
}

const common = { sideEffects: 'None', admissionReviewVersions: ['v1'] }
const configMaps = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] }]
const widgets = [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['widgets'] }]
const allow: Handler = () => ({ allowed: true })

function patchOf(...operations: JsonObject[]): JsonObject {
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') }
}

t.test('a custom resource is defaulted by a webhook, then by its schema, and then validated', async (t) => {
  const seen: unknown[] = []
  const { client, clientConfig, asked } = await start(t, {
    mutate: () => patchOf({ op: 'replace', path: '/spec', value: { size: 7, unknown: 1 } }),
    validate: ({ object }) => {
      seen.push((object as JsonObject).spec)
      return { allowed: true }
    },
  })
  await createWidgetDefinition(client)
  await client.create(mutatingWebhookConfiguration, {
    metadata: { name: 'm' },
    webhooks: [{ name: 'm.example.com', clientConfig: clientConfig('mutate'), rules: widgets, ...common }],
  })
  await client.create(validatingWebhookConfiguration, {
    metadata: { name: 'v' },
    webhooks: [{ name: 'v.example.com', clientConfig: clientConfig('validate'), rules: widgets, ...common }],
  })
  const created = await client.create(widgetType, { metadata: { name: 'a', namespace: 'default' }, spec: { size: 1 } })
  t.strictSame(created.spec, { size: 7, color: 'red' })
  t.match(seen, [{ size: 7, color: 'red' }])
  t.strictSame(asked, ['mutate CREATE a', 'validate CREATE a'])
})

t.test('an object that a mutating webhook makes invalid is refused before validating webhooks are called', async (t) => {
  const { client, clientConfig, asked } = await start(t, {
    mutate: () => patchOf({ op: 'replace', path: '/spec/size', value: 0 }),
    validate: allow,
  })
  await createWidgetDefinition(client)
  await client.create(mutatingWebhookConfiguration, {
    metadata: { name: 'm' },
    webhooks: [{ name: 'm.example.com', clientConfig: clientConfig('mutate'), rules: widgets, ...common }],
  })
  await client.create(validatingWebhookConfiguration, {
    metadata: { name: 'v' },
    webhooks: [{ name: 'v.example.com', clientConfig: clientConfig('validate'), rules: widgets, ...common }],
  })
  await t.rejects(client.create(widgetType, { metadata: { name: 'a', namespace: 'default' }, spec: { size: 1 } }), {
    statusCode: 422,
    message: /Widget.example.com "a" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1/,
  })
  t.strictSame(asked, ['mutate CREATE a'])
})

t.test('a webhook is called for updates and deletions until its configuration is deleted', async (t) => {
  const { client, clientConfig, asked } = await start(t, { validate: allow })
  const key = { name: 'a', namespace: 'default' }
  await client.create(validatingWebhookConfiguration, {
    metadata: { name: 'v' },
    webhooks: [{ name: 'v.example.com', clientConfig: clientConfig('validate'), rules: configMaps, ...common }],
  })
  await client.create(configMap, { metadata: key })
  await client.patch(configMap, key, { data: { x: 'y' } })
  await client.delete(configMap, key)
  await client.delete(validatingWebhookConfiguration, { name: 'v' })
  await client.create(configMap, { metadata: key })
  t.strictSame(asked, ['validate CREATE a', 'validate UPDATE a', 'validate DELETE a'])
})

t.test('a service reference is called by the name of the Service', async (t) => {
  const { client, caBundle, asked } = await start(t, { validate: allow })
  const service = { namespace: 'system', name: 'hooks', path: '/validate' }
  await client.create(validatingWebhookConfiguration, {
    metadata: { name: 'v' },
    webhooks: [{ name: 'v.example.com', clientConfig: { service, caBundle }, rules: configMaps, ...common }],
  })
  await client.create(configMap, { metadata: { name: 'a', namespace: 'default' } })
  t.strictSame(asked, ['validate CREATE a'])
})

t.test('a namespaceSelector uses the current labels of the namespace', async (t) => {
  const { client, clientConfig } = await start(t, { validate: () => ({ allowed: false }) })
  const namespaceSelector = { matchLabels: { guarded: 'yes' } }
  await client.create(validatingWebhookConfiguration, {
    metadata: { name: 'v' },
    webhooks: [{ name: 'v.example.com', clientConfig: clientConfig('validate'), rules: configMaps, namespaceSelector, ...common }],
  })
  await client.create(configMap, { metadata: { name: 'a', namespace: 'default' } })
  await client.patch(namespace, { name: 'default' }, { metadata: { labels: { guarded: 'yes' } } })
  await t.rejects(client.create(configMap, { metadata: { name: 'b', namespace: 'default' } }), {
    statusCode: 400,
    message: /admission webhook "v.example.com" denied the request without explanation/,
  })
})

t.test('a review of a dry run has dryRun set, and nothing is stored', async (t) => {
  const { client, clientConfig } = await start(t, { validate: ({ dryRun }) => ({ allowed: dryRun === true }) })
  await client.create(validatingWebhookConfiguration, {
    metadata: { name: 'v' },
    webhooks: [{ name: 'v.example.com', clientConfig: clientConfig('validate'), rules: configMaps, ...common }],
  })
  await client.create(configMap, { metadata: { name: 'a', namespace: 'default' } }, { dryRun: true })
  t.strictSame((await client.list(configMap)).items, [])
})

t.test('warnings of webhooks reach the client', async (t) => {
  const { cluster, client, clientConfig } = await start(t, { validate: () => ({ allowed: true, warnings: ['careful'] }) })
  await client.create(validatingWebhookConfiguration, {
    metadata: { name: 'v' },
    webhooks: [{ name: 'v.example.com', clientConfig: clientConfig('validate'), rules: configMaps, ...common }],
  })
  const warnings: string[] = []
  const listening = createClient(cluster.connection, { onWarning: (text) => warnings.push(text) })
  t.teardown(() => listening.close())
  await listening.create(configMap, { metadata: { name: 'a', namespace: 'default' } })
  t.strictSame(warnings, ['careful'])
})

t.test('a rule for a subresource does not match the object, nor the other way round', async (t) => {
  const { client, clientConfig, asked } = await start(t, { validate: allow })
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods/binding'] }]
  await client.create(validatingWebhookConfiguration, {
    metadata: { name: 'v' },
    webhooks: [{ name: 'v.example.com', clientConfig: clientConfig('validate'), rules, ...common }],
  })
  await client.create(pod, { metadata: { name: 'a', namespace: 'default' }, spec: { containers: [{ name: 'main', image: 'i' }] } })
  await client.raw('/api/v1/namespaces/default/pods/a/binding', {
    method: 'POST',
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: 'n' } },
    contentType: 'application/json',
  })
  t.strictSame(asked, ['validate CREATE a'])
})

t.test('kubectl prints a denial with causes as it prints the schema’s own errors', needsKubectl, async (t) => {
  const causes = [
    { reason: 'FieldValueInvalid', message: 'Invalid value: 13: brings bad luck', field: 'spec.size' },
    { reason: 'FieldValueForbidden', message: 'Forbidden: not today', field: 'spec.color' },
  ]
  const details = { name: 'a', group: 'example.com', kind: 'Widget', causes }
  const { cluster, client, clientConfig } = await start(t, {
    validate: () => ({ allowed: false, status: { code: 422, reason: 'Invalid', message: 'no', details } }),
    deny: () => ({ allowed: false, status: { code: 403, reason: 'Forbidden', message: 'never' } }),
  })
  await createWidgetDefinition(client)
  const kubectl = kubectlOf(t, cluster)
  await client.create(validatingWebhookConfiguration, {
    metadata: { name: 'v' },
    webhooks: [{ name: 'v.example.com', clientConfig: clientConfig('validate'), rules: widgets, ...common }],
  })
  const manifest = JSON.stringify(widget('a', { size: 13 }))
  t.strictSame(await kubectl('create -f -', manifest), {
    code: 1,
    stdout: '',
    stderr: 'The Widget "a" is invalid: \n* spec.size: Invalid value: 13: brings bad luck\n* spec.color: Forbidden: not today\n',
  })
  const replaced = { webhooks: [{ name: 'd.example.com', clientConfig: clientConfig('deny'), rules: widgets, ...common }] }
  await client.patch(validatingWebhookConfiguration, { name: 'v' }, replaced)
  t.equal(
    (await kubectl('create -f -', manifest)).stderr,
    'Error from server (Forbidden): error when creating "STDIN": admission webhook "d.example.com" denied the request: never\n',
  )
  const unreachable = { webhooks: [{ ...replaced.webhooks[0]!, clientConfig: { url: 'https://127.0.0.1:1/x' }, timeoutSeconds: 3 }] }
  await client.patch(validatingWebhookConfiguration, { name: 'v' }, unreachable)
  t.equal(
    (await kubectl('create -f -', manifest)).stderr,
    'Error from server (InternalError): error when creating "STDIN": Internal error occurred: failed calling webhook "d.example.com": failed to call webhook: Post "https://127.0.0.1:1/x?timeout=3s": dial tcp 127.0.0.1:1: connect: connection refused\n',
  )
})
