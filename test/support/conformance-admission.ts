/** A webhook server on loopback that answers as a test says and keeps what it was asked, and the configurations that make the API server call it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import type { Api } from './api-request.ts'
import { until } from './process.ts'

/** One call of a webhook. */
export interface Call {
  /** The path of the URL, without the slash: which webhook it is. */
  readonly path: string
  /** The query of the URL, e.g. `timeout=10s`. */
  readonly query: string
  readonly headers: IncomingMessage['headers']
  readonly review: JsonObject
  /** `request` of the review. */
  readonly request: JsonObject
}

/** What a webhook says: the `response` of the review, whose uid is filled in, or nothing when it has dealt with the exchange itself. */
export type Answer = (call: Call, response: ServerResponse) => JsonObject | undefined

export interface WebhookServer {
  /** `https://127.0.0.1:port` */
  readonly url: string
  readonly caBundle: string
  /** Where webhooks listen that have this path. */
  clientConfig(path: string): JsonObject
  /** Says what the webhook of a path answers; without, it allows. */
  answer(path: string, answer: Answer | JsonObject): void
  /** The calls since the last time, oldest first. */
  take(): Call[]
  /** Forgets the calls and the answers: all allow again. */
  reset(): void
}

export interface AdmissionWorld {
  readonly api: Api
  readonly server: WebhookServer
  /** Creates a configuration and waits until the API server calls it; it goes with the test. */
  configure(t: Test, type: WebhookType, name: string, webhooks: readonly JsonObject[]): Promise<void>
}

export type WebhookType = 'mutating' | 'validating'

export const configurations = '/apis/admissionregistration.k8s.io/v1'
const kinds = { mutating: 'MutatingWebhookConfiguration', validating: 'ValidatingWebhookConfiguration' } as const

/** A configuration as it is posted. */
export function configurationOf(type: WebhookType, name: string, webhooks: readonly JsonObject[]): JsonObject {
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind: kinds[type], metadata: { name }, webhooks: [...webhooks] }
}

/** The path of a configuration, or of all of its type. */
export function configurationPath(type: WebhookType, name?: string): string {
  return `${configurations}/${kinds[type].toLowerCase()}s${name === undefined ? '' : `/${name}`}`
}

/** A JSON patch as a response carries it. */
export function patchResponse(...operations: readonly JsonObject[]): JsonObject {
  return { allowed: true, patchType: 'JSONPatch', patch: base64(JSON.stringify(operations)) }
}

export function base64(value: string): string {
  return Buffer.from(value).toString('base64')
}

/** A webhook server, and configurations whose webhooks are asked about the namespace alone unless they say something else. */
export async function admissionWorld(t: Test, api: Api, namespace: string): Promise<AdmissionWorld> {
  const probes = new Set<string>()
  const server = await startWebhookServer(t, probes)

  /** Creates, dry, a ConfigMap that the first webhook of each configuration asks to see: whether it is called. */
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
      // First, so that no answer of another one ends the request before.
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

/** A webhook of a test: its path is the first part of its name. */
export function webhookOf(server: WebhookServer, path: string, rules: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { name: `${path}.conformance.example.com`, clientConfig: server.clientConfig(path), rules: [...rules], ...more }
}

async function startWebhookServer(t: Test, probes: Set<string>): Promise<WebhookServer> {
  const now = Date.now()
  const authority = await issueAuthority(now)
  const leaf = await issueLeaf(authority, { names: ['hooks.conformance.svc'], ips: ['127.0.0.1'], now })
  const answers = new Map<string, Answer>()
  let calls: Call[] = []

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = request.url!.slice(1).split('?')
    const review = JSON.parse(await text(request)) as JsonObject
    const call = { path, query, headers: request.headers, review, request: review.request as JsonObject }
    if (path.startsWith('probe-')) probes.add(path)
    else calls.push(call)
    const answer = answers.get(path)
    const given = answer === undefined ? { allowed: true } : answer(call, response)
    if (given === undefined) return
    respondReview(response, { apiVersion: review.apiVersion!, kind: 'AdmissionReview', response: { uid: call.request.uid!, ...given } })
  }

  const server = createServer(leaf, (request, response) => {
    // What the test's own answer throws is a failed call; the test sees that.
    handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const caBundle = base64(authority.cert)
  return {
    url,
    caBundle,
    clientConfig: (path) => ({ url: `${url}/${path}`, caBundle }),
    answer: (path, answer) => void answers.set(path, typeof answer === 'function' ? answer : () => answer),
    take() {
      const taken = calls
      calls = []
      return taken
    },
    reset() {
      calls = []
      answers.clear()
    },
  }
}

/** Sends a review, or anything else, as JSON. */
export function respondReview(response: ServerResponse, body: unknown): void {
  response.setHeader('content-type', 'application/json').end(typeof body === 'string' ? body : JSON.stringify(body))
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

/** Creates `widgets` (in namespaces) and `gadgets` (in none) of a group, in the versions v1 and v2, with status and scale; they go with the test. */
export async function defineWidgets(t: Test, api: Api, group: string): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
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
    const created = await api('POST', definitions, {
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${plural}.${group}` },
        spec: {
          group,
          names: { plural, kind },
          scope,
          versions: [
            { name: 'v1', storage: true, ...version },
            { name: 'v2', storage: false, ...version },
          ],
        },
      },
    })
    if (created.status !== 201) throw new Error(`${plural} was not created: ${created.text}`)
    t.teardown(() => api('DELETE', `${definitions}/${plural}.${group}`))
  }
  for (const { plural } of types)
    for (const version of ['v1', 'v2'])
      await until(
        `${plural} are served in ${version}`,
        async () => (await api('GET', `/apis/${group}/${version}/${plural}`)).status === 200,
      )
}

/** Rules for what is asked about most. */
export const configMaps: readonly JsonObject[] = [
  { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] },
]

/** An answer that is no review: any code, body and headers. */
export function raw(code: number, body: string, headers: Readonly<Record<string, string>> = { 'content-type': 'text/plain' }): Answer {
  return (_call, response) => {
    response.writeHead(code, headers).end(body)
    return undefined
  }
}

/** A review whose envelope or response has something else than it should. */
export function review(response: JsonObject | null, envelope: JsonObject = {}): Answer {
  return ({ request }, exchange) => {
    const answered = response === null ? {} : { response: { uid: request.uid!, allowed: true, ...response } }
    respondReview(exchange, { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', ...answered, ...envelope })
    return undefined
  }
}
