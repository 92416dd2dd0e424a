/** A kind with webhooks, AdmissionReviews for objects of this kind, and a webhook server. */
import assert from 'node:assert/strict'
import type { Test } from 'tap'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { Clock } from '../../../src/runtime/clock.ts'
import { forbidden, invalid } from '../../../src/api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { defineKind } from '../../../src/api/kind.ts'
import type { Infer } from '../../../src/api/kind.ts'
import type { Status } from '../../../src/api/status.ts'
import { Type } from '../../../src/api/type.ts'
import { issueAuthority, issueLeaf } from '../../../src/certs/issue.ts'
import type { CertificateSource, ServingCertificate } from '../../../src/certs/serving-certificate.ts'
import { servingCertificate } from '../../../src/certs/serving-certificate.ts'
import type { Client } from '../../../src/client/client.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import type { WebhookHandlers, WebhookSettings } from '../../../src/webhook/definition/definition.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import type { PatchOperation } from '../../../src/webhook/review/patch.ts'
import type { WebhookServer, WebhookServerOptions } from '../../../src/webhook/server.ts'
import { createWebhookServer } from '../../../src/webhook/server.ts'
import { recordingLogger } from '../recording-logger.ts'

export const widget = defineKind({
  group: 'apps.example.com',
  kind: 'Widget',
  versions: [
    {
      name: 'v1',
      storage: true,
      spec: Type.Object({
        size: Type.Integer({ minimum: 1, maximum: 9, default: 3 }),
        image: Type.String(),
        note: Type.Optional(Type.String()),
        parts: Type.Optional(Type.Array(Type.Object({ name: Type.String(), color: Type.String({ default: 'red' }) }))),
        labels: Type.Optional(Type.Record(Type.String())),
      }),
      status: Type.Object({ ready: Type.Boolean() }),
    },
    { name: 'v1beta1', spec: Type.Object({ size: Type.Integer({ default: 2 }) }) },
    { name: 'v1alpha1', served: false, spec: Type.Object({}) },
  ],
})
export type Widget = Infer<typeof widget>

/**
 * Handlers of the webhooks. The mutating handler sets a default for the image. The validating handler denies the note `bad`, and an update
 * that makes the size smaller.
 */
export const handlers: WebhookHandlers<Widget> = {
  default: (object) =>
    object.spec.image === undefined ? { ...object, spec: { ...object.spec, image: `widget:${object.spec.size}` } } : object,
  validate: (object, old) => [
    ...(object.spec.note === 'bad' ? [invalid('spec.note', 'bad', 'must be good')] : []),
    ...(old !== undefined && object.spec.size < old.spec.size ? [forbidden('spec.size', 'may not shrink')] : []),
  ],
}

export interface ReviewedRequest {
  operation?: string
  object?: JsonValue
  oldObject?: JsonValue
  subResource?: string
  kind?: JsonObject
  [field: string]: JsonValue | undefined
}

export function widgetObject(spec: JsonValue, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'apps.example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'ns', ...metadata }, spec }
}

export function review(request: ReviewedRequest): JsonObject {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'uid-1',
      kind: { group: 'apps.example.com', version: 'v1', kind: 'Widget' },
      resource: { group: 'apps.example.com', version: 'v1', resource: 'widgets' },
      name: 'w',
      namespace: 'ns',
      operation: 'CREATE',
      userInfo: { username: 'jane', groups: ['dev'] },
      object: null,
      oldObject: null,
      dryRun: false,
      options: null,
      ...request,
    },
  }
}

export interface ReviewAnswer {
  uid: string
  allowed: boolean
  status?: Status
  patchType?: string
  patch?: string
  warnings?: string[]
}

export interface Fixture {
  readonly server: WebhookServer
  readonly lines: string[]
  readonly entries: Record<string, unknown>[]
  readonly metrics: Metrics
  readonly source: ChangeableSource
  /**
   * Sends an AdmissionReview and returns its response. Asserts that the HTTP status is 200 and that the response has the uid of the
   * request.
   */
  ask(verb: 'mutate' | 'validate', request: ReviewedRequest, query?: string): Promise<ReviewAnswer>
}

export type ChangeableSource = CertificateSource & { change(): Promise<ServingCertificate> }

/** Creates a source of certificates for localhost. Its function `change` issues a new leaf certificate with the same CA. */
export async function changeableSource(): Promise<ChangeableSource> {
  const now = Date.now()
  const authority = await issueAuthority(now)
  const issue = async (): Promise<ServingCertificate> => {
    const leaf = await issueLeaf(authority, { names: ['localhost'], ips: ['127.0.0.1', '::1'], now: Date.now() })
    return servingCertificate({ ...leaf, caBundle: authority.cert }, undefined)
  }
  let current = await issue()
  const listeners = new Set<(certificate: ServingCertificate) => void>()
  return {
    current: () => current,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    start: () => Promise.resolve(),
    async change() {
      current = await issue()
      for (const listener of listeners) listener(current)
      return current
    },
  }
}

export async function fixture(
  test: Test,
  definition: WebhookHandlers<Widget> & WebhookSettings = handlers,
  options: Partial<WebhookServerOptions> & { clock?: Clock; level?: string } = {},
): Promise<Fixture> {
  const { logger, lines, entries } = recordingLogger(options.level ?? 'debug')
  const metrics = new Metrics()
  const source = await changeableSource()
  const server = createWebhookServer({
    webhooks: [defineWebhook(widget, definition)],
    client: {} as Client,
    certificates: source,
    port: 0,
    logger,
    metrics,
    clock: systemClock,
    ...options,
  })
  test.after(() => server.stop(0))
  return {
    server,
    lines,
    entries,
    metrics,
    source,
    async ask(verb, request, query = '') {
      const { version } = (request.kind ?? { version: 'v1' }) as { version: string }
      const answer = await server.app.inject({
        method: 'POST',
        url: `/${verb}-apps-example-com-${version}-widget${query}`,
        payload: review(request),
      })
      assert.equal(answer.statusCode, 200, answer.body.slice(0, 200))
      const body = answer.json<{ apiVersion: string; kind: string; response: ReviewAnswer }>()
      assert.deepEqual([body.apiVersion, body.kind, body.response.uid], ['admission.k8s.io/v1', 'AdmissionReview', 'uid-1'])
      return body.response
    },
  }
}

export function patchOf({ patch, patchType }: ReviewAnswer): PatchOperation[] {
  if (patch === undefined) return []
  assert.equal(patchType, 'JSONPatch')
  return JSON.parse(Buffer.from(patch, 'base64').toString()) as PatchOperation[]
}
