/**
 * A webhook server for conformance tests, and functions that create webhook configurations for this server. The server listens on loopback,
 * returns the responses that a test sets, and records the calls of the webhooks.
 */
import type { Test } from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Api } from './api-request.ts'
import { define, definitionOf } from './definitions.ts'
import type { ReceivedReview, Respond, ReviewServer } from './reviews.ts'
import { base64, Calls, respondReview, startReviewServer } from './reviews.ts'
import { until } from '../../../src/testing/until.ts'

/** A call of a webhook. The path of the URL identifies the webhook. */
export interface Call extends ReceivedReview {
  /** The `request` of the AdmissionReview. */
  readonly request: JsonObject
}

export type Answer = Respond<Call>

export interface WebhookServer extends ReviewServer {
  /** Returns the `clientConfig` for the webhook with this path. */
  clientConfig(path: string): JsonObject
  /** Sets the response of the webhook with this path. By default, a webhook allows every request. */
  answer(path: string, answer: Answer | JsonObject): void
  /** Returns the calls since the last `take`, the oldest first. */
  take(): Call[]
  /** Removes the recorded calls and the responses: every webhook allows every request again. */
  reset(): void
}

export interface AdmissionWorld {
  readonly api: Api
  readonly server: WebhookServer
  /**
   * Creates a webhook configuration, and waits until the API server calls the webhooks of this configuration. The configuration is deleted
   * at the end of the test.
   */
  configure(t: Test, type: WebhookType, name: string, webhooks: readonly JsonObject[]): Promise<void>
}

export type WebhookType = 'mutating' | 'validating'

export const configurations = '/apis/admissionregistration.k8s.io/v1'
const kinds = { mutating: 'MutatingWebhookConfiguration', validating: 'ValidatingWebhookConfiguration' } as const

/** Returns the body of the request that creates a webhook configuration. */
export function configurationOf(type: WebhookType, name: string, webhooks: readonly JsonObject[]): JsonObject {
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind: kinds[type], metadata: { name }, webhooks: [...webhooks] }
}

/** Returns the URL path of a webhook configuration, or of the collection if there is no name. */
export function configurationPath(type: WebhookType, name?: string): string {
  return `${configurations}/${kinds[type].toLowerCase()}s${name === undefined ? '' : `/${name}`}`
}

/** Returns an AdmissionResponse with a JSON patch, but without the uid. */
export function patchResponse(...operations: readonly JsonObject[]): JsonObject {
  return { allowed: true, patchType: 'JSONPatch', patch: base64(JSON.stringify(operations)) }
}

/** Starts a webhook server. A configured webhook without its own `namespaceSelector` matches only objects in `namespace`. */
export async function admissionWorld(t: Test, api: Api, namespace: string): Promise<AdmissionWorld> {
  const probes = new Set<string>()
  const server = await startWebhookServer(t, probes)

  /**
   * Creates a ConfigMap with `dryRun=All`. Returns true if the API server then called the probe webhook of the webhook configuration with
   * this type and name.
   */
  async function isCalled(type: WebhookType, name: string): Promise<boolean> {
    const path = `probe-${type}-${name}`
    probes.delete(path)
    const body = { metadata: { name: 'probe', labels: { probe: `${type}-${name}` } } }
    await api('POST', `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, { body })
    return probes.has(path)
  }

  return {
    api,
    server,
    async configure(t, type, name, webhooks) {
      const common = {
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      }
      const probe = {
        name: 'probe.conformance.example.com',
        clientConfig: server.clientConfig(`probe-${type}-${name}`),
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        objectSelector: { matchLabels: { probe: `${type}-${name}` } },
      }
      // The probe webhook is the first webhook. If another webhook denied the request first, the probe webhook would not be called.
      const entries = [probe, ...webhooks].map((webhook) => ({ ...common, ...webhook }))
      server.reset()
      const created = await api('POST', configurationPath(type), { body: configurationOf(type, name, entries) })
      if (created.status !== 201) throw new Error(`${name} was not created: ${created.text}`)
      t.teardown(async () => {
        server.reset()
        await api('DELETE', configurationPath(type, name))
        await until(`${name} is no longer called`, async () => !(await isCalled(type, name)))
      })
      await until(`${name} is called`, () => isCalled(type, name))
      server.take()
    },
  }
}

/** Returns a webhook. `path` is its URL path and the first label of its name. */
export function webhookOf(server: WebhookServer, path: string, rules: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { name: `${path}.conformance.example.com`, clientConfig: server.clientConfig(path), rules: [...rules], ...more }
}

async function startWebhookServer(t: Test, probes: Set<string>): Promise<WebhookServer> {
  const answers = new Map<string, Answer>()
  const calls = new Calls<Call>()
  const { url, caBundle } = await startReviewServer(t, (received, response) => {
    const { path, review } = received
    const call = { ...received, request: review.request as JsonObject }
    if (path.startsWith('probe-')) probes.add(path)
    else calls.add(call)
    const answer = answers.get(path)
    return answer === undefined ? { allowed: true } : answer(call, response)
  })
  return {
    url,
    caBundle,
    clientConfig: (path) => ({ url: `${url}/${path}`, caBundle }),
    answer: (path, answer) => void answers.set(path, typeof answer === 'function' ? answer : () => answer),
    take: () => calls.take(),
    reset() {
      calls.take()
      answers.clear()
    },
  }
}

const widgetSchema: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 1 },
        color: { type: 'string', default: 'red' },
        tags: { type: 'array', items: { type: 'string' } },
      },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, phase: { type: 'string' } } },
  },
}

/**
 * Defines the types `widgets` (namespaced) and `gadgets` (cluster-scoped) in a group. Both types have the versions v1 and v2, and the
 * subresources status and scale. Both types are deleted at the end of the test.
 */
export async function defineWidgets(t: Test, api: Api, group: string): Promise<void> {
  const types = [
    { kind: 'Widget', plural: 'widgets', scope: 'Namespaced' },
    { kind: 'Gadget', plural: 'gadgets', scope: 'Cluster' },
  ]
  for (const { kind, plural, scope } of types) {
    const version = {
      served: true,
      schema: { openAPIV3Schema: widgetSchema },
      subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' } },
    }
    const versions = [
      { name: 'v1', storage: true, ...version },
      { name: 'v2', storage: false, ...version },
    ]
    await define(t, api, definitionOf({ group, names: { plural, kind }, scope, versions }))
  }
}

/** Rules that match creates, updates and deletes of ConfigMaps. */
export const configMaps: readonly JsonObject[] = [
  { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] },
]

/**
 * Returns a function that responds with an AdmissionReview. `response` overrides fields of its AdmissionResponse; null omits the
 * AdmissionResponse. `envelope` overrides fields of the AdmissionReview.
 */
export function review(response: JsonObject | null, envelope: JsonObject = {}): Answer {
  return ({ request }, exchange) => {
    const answered = response === null ? {} : { response: { uid: request.uid!, allowed: true, ...response } }
    respondReview(exchange, { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', ...answered, ...envelope })
    return undefined
  }
}
