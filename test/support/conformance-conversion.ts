/** A conversion webhook on loopback that converts as a test says and keeps what it was asked, and a type that is converted by it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import type { Api } from './api-request.ts'
import { base64, respondReview } from './conformance-admission.ts'
import { until } from './process.ts'

/** One call of the conversion webhook. */
export interface ConversionCall {
  readonly path: string
  /** The query of the URL. */
  readonly query: string
  readonly review: JsonObject
  readonly uid: string
  readonly desiredAPIVersion: string
  readonly objects: readonly JsonObject[]
}

/** What the webhook answers: the `response` of the review, whose uid is filled in, or nothing when it has dealt with the exchange itself. */
export type ConversionAnswer = (call: ConversionCall, response: ServerResponse) => JsonObject | undefined

export interface ConversionServer {
  /** `https://127.0.0.1:port` */
  readonly url: string
  readonly caBundle: string
  /** `spec.conversion` of a definition. */
  readonly conversion: JsonObject
  /** Answers in another way until `reset`. */
  answer(answer: ConversionAnswer): void
  /** Converts each object by `convert`. */
  reset(): void
  /** The calls since the last time, oldest first. */
  take(): ConversionCall[]
}

/** Starts a server that converts with `convert`; it ends with the test. */
export async function conversionServer(t: Test, convert: (object: JsonObject, desired: string) => JsonObject): Promise<ConversionServer> {
  const now = Date.now()
  const authority = await issueAuthority(now)
  const leaf = await issueLeaf(authority, { names: ['convert.conformance.svc'], ips: ['127.0.0.1'], now })
  const converting: ConversionAnswer = ({ objects, desiredAPIVersion }) =>
    converted(objects.map((object) => convert(object, desiredAPIVersion)))
  let answer = converting
  let calls: ConversionCall[] = []

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = request.url!.slice(1).split('?')
    const review = JSON.parse(await text(request)) as JsonObject
    const { uid, desiredAPIVersion, objects } = review.request as { uid: string; desiredAPIVersion: string; objects: JsonObject[] }
    const call = { path, query, review, uid, desiredAPIVersion, objects }
    calls.push(call)
    const given = answer(call, response)
    if (given === undefined) return
    respondReview(response, { apiVersion: review.apiVersion!, kind: 'ConversionReview', response: { uid, ...given } })
  }

  const server = createServer(leaf, (request, response) => {
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
    conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: `${url}/convert`, caBundle }, conversionReviewVersions: ['v1'] } },
    answer: (other) => void (answer = other),
    reset: () => void (answer = converting),
    take() {
      const taken = calls
      calls = []
      return taken
    },
  }
}

/** A response that says that all went well. */
export function converted(convertedObjects: readonly JsonObject[]): JsonObject {
  return { result: { status: 'Success' }, convertedObjects: [...convertedObjects] }
}

/** Whose type the tests convert: v1 has `spec.size`, v2 has `spec.replicas` and `spec.color`, which is an annotation in v1. */
export function convertThing(object: JsonObject, desired: string): JsonObject {
  const { metadata, spec = {}, ...rest } = object as { metadata: JsonObject; spec?: JsonObject }
  const annotations = (metadata.annotations ?? {}) as JsonObject
  if (desired.endsWith('/v2')) {
    const { 'example.com/color': color, ...others } = annotations
    const { size, ...kept } = spec
    return {
      ...rest,
      apiVersion: desired,
      metadata: { ...metadata, ...(Object.keys(others).length === 0 ? { annotations: undefined } : { annotations: others }) },
      spec: { ...kept, ...(size === undefined ? {} : { replicas: size }), ...(color === undefined ? {} : { color }) },
    } as JsonObject
  }
  const { replicas, color, ...kept } = spec
  return {
    ...rest,
    apiVersion: desired,
    metadata: { ...metadata, ...(color === undefined ? {} : { annotations: { ...annotations, 'example.com/color': color } }) },
    spec: { ...kept, ...(replicas === undefined ? {} : { size: replicas }) },
  } as JsonObject
}

const spec = (fields: JsonObject): JsonObject => ({ type: 'object', properties: { note: { type: 'string' }, ...fields } })
const status: JsonObject = { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } }

/** Creates `things` of a group, stored in v1 and served in v1 and v2, and waits until both are served; they go with the test. */
export async function defineThings(t: Test, api: Api, group: string, conversion: JsonObject, more: JsonObject = {}): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const version = (name: string, storage: boolean, fields: JsonObject, replicas: string): JsonObject => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: spec(fields), status } } },
    subresources: { status: {}, scale: { specReplicasPath: replicas, statusReplicasPath: '.status.replicas' } },
  })
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Namespaced',
      versions: [
        version('v1', true, { size: { type: 'integer', minimum: 1 } }, '.spec.size'),
        version('v2', false, { replicas: { type: 'integer', maximum: 100 }, color: { type: 'string', default: 'red' } }, '.spec.replicas'),
      ],
      conversion,
      ...more,
    },
  }
  const created = await api('POST', definitions, { body })
  if (created.status !== 201) throw new Error(`things were not created: ${created.text}`)
  t.teardown(() => api('DELETE', `${definitions}/things.${group}`))
  for (const name of ['v1', 'v2'])
    await until(`things are served in ${name}`, async () => (await api('GET', `/apis/${group}/${name}/things`)).status === 200)
}
